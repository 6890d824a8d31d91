"""What the shop's staff write in an order's note, in the languages of its customers.

The sentences are invented for this project. `{product}`, `{number}` and `{hour}` are filled in by
`generate.py`.
"""

LOCALES = {"English": "en_GB", "Vietnamese": "vi_VN", "German": "de_DE", "Japanese": "ja_JP"}
"""Faker's locale for each language of the account."""

PRODUCTS = {
    "English": (
        "desk lamp",
        "rain jacket",
        "coffee grinder",
        "bicycle bell",
        "wool blanket",
        "tea kettle",
    ),
    "Vietnamese": ("đèn bàn", "áo mưa", "cối xay cà phê", "chuông xe đạp", "chăn len", "ấm trà"),
    "German": (
        "Schreibtischlampe",
        "Regenjacke",
        "Kaffeemühle",
        "Fahrradklingel",
        "Wolldecke",
        "Teekessel",
    ),
    "Japanese": (
        "デスクランプ",
        "レインジャケット",
        "コーヒーミル",
        "自転車ベル",
        "ウールの毛布",
        "やかん",
    ),
}

SENTENCES = {
    "English": (
        "Customer asks for delivery after {hour}:00.",
        "The {product} arrived with a dent; photos are in the mailbox.",
        "Please leave the parcel with the neighbour at number {number}.",
        "Gift wrapping for the {product}, without the invoice in the box.",
        "Called {number} times, nobody answered.",
        "The courier could not find the entrance, so we gave him the door code.",
        "Customer wants to swap the {product} for another colour.",
        "Bank confirms that the payment went through on the second attempt.",
        "Second parcel of the order follows in {number} days.",
        "Customer was friendly and thanked us for the quick answer.",
    ),
    "Vietnamese": (
        "Khách muốn nhận hàng sau {hour} giờ.",
        "Chiếc {product} bị móp khi giao đến; ảnh đã gửi qua thư.",
        "Xin gửi gói hàng cho nhà hàng xóm số {number}.",
        "Gói quà cho {product}, không để hóa đơn trong hộp.",
        "Đã gọi {number} lần nhưng không ai nghe máy.",
        "Người giao hàng không tìm thấy lối vào nên chúng tôi đã chỉ đường lại.",
        "Khách muốn đổi {product} sang màu khác.",
        "Ngân hàng xác nhận lần thanh toán thứ hai đã thành công.",
        "Gói hàng thứ hai sẽ đến sau {number} ngày.",
        "Khách rất vui vẻ và cảm ơn vì được trả lời nhanh.",
    ),
    "German": (
        "Kunde bittet um Lieferung nach {hour} Uhr.",
        "Artikel ({product}) kam mit einer Delle an, die Fotos liegen im Postfach.",
        "Paket bitte beim Nachbarn in Hausnummer {number} abgeben.",
        "Bitte als Geschenk verpacken ({product}), ohne Rechnung im Karton.",
        "Schon {number} Mal angerufen, niemand ging ans Telefon.",
        "Der Fahrer fand den Eingang nicht, wir haben ihm den Türcode durchgegeben.",
        "Kunde möchte eine andere Farbe ({product}).",
        "Die Bank bestätigt, dass die Zahlung beim zweiten Versuch geklappt hat.",
        "Das zweite Paket der Bestellung folgt in {number} Tagen.",
        "Sehr freundliches Gespräch, die Kundin bedankte sich für die schnelle Antwort.",
    ),
    "Japanese": (
        "お客様は{hour}時以降の配達を希望されています。",
        "{product}にへこみがありました。写真はメールで届いています。",
        "荷物は{number}号室のお隣に預けてください。",
        "{product}はギフト包装で、納品書は入れないでください。",
        "{number}回お電話しましたが、つながりませんでした。",
        "配達員が入口を見つけられなかったため、行き方を伝えました。",
        "お客様は{product}の色の交換を希望されています。",
        "二回目の決済が成功したと銀行から連絡がありました。",
        "二つ目の荷物は{number}日後に届く予定です。",
        "迅速な返信にお礼の言葉をいただきました。",
    ),
}

SPEAKERS = {
    "English": ("Customer", "Support"),
    "Vietnamese": ("Khách", "Hỗ trợ"),
    "German": ("Kundin", "Service"),
    "Japanese": ("お客様", "サポート"),
}
"""Who speaks in a note that holds a whole chat."""

SPECIAL_TOKEN_NOTE = (
    "Customer pasted this from a chat window: <|endoftext|> and asks whether it is an error code."
)
"""Looks like a tokenizer's special token; it is plain text."""

COLOUR_NOTE = "Shop terminal says: \x1b[31mPAYMENT LATE\x1b[0m 😡 then \x1b[1;32mOK\x1b[0m 👍🏽 family plan 👨‍👩‍👧 🇻🇳"
"""Emoji of several code points, and ANSI colour codes, as a copied terminal leaves them."""
