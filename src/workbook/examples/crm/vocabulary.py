"""Names and sentences for the generated company. All are invented, or too common to be anybody's.

A name is written as the person writes it; behind `|` stands its spelling in a user name where that
is not the same letters without accents.
"""

GIVEN = {
    "Vietnamese": "Mai Linh Hương Lan Ngọc Minh Tuấn Hùng Quân Thảo Vy Khánh Phúc Trang Duy Hà".split(),
    "English": "Alice Ben Clara Daniel Ella Frank Grace Henry Isla Jack Kate Liam Nora Owen Ruth Tom".split(),
    "German": "Jürgen Anke Björn Heike Lukas Käthe Moritz Sabine Uwe Jana Felix Dörte".split(),
    "Spanish": "Ana José Lucía Ramón Inés Andrés Sofía Iñaki Carmen Diego Elena Raúl".split(),
    "Japanese": "陽子|yoko 健太|kenta 美咲|misaki 大輔|daisuke 直樹|naoki 恵子|keiko 翔|sho 葵|aoi".split(),
}
FAMILY = {
    "Vietnamese": "Nguyễn Trần Lê Phạm Hoàng Phan Vũ Đặng Bùi Đỗ Hồ Ngô Dương Lý".split(),
    "English": "Archer Baker Carter Dawson Ellis Foster Graham Hughes Jarvis Keane Lawson Mercer Norton Price".split(),
    "German": "Müller Schäfer Vogel Krüger Brandt Weiß|weiss Lorenz Böhm Seidel Kühn".split(),
    "Spanish": "López García Ibáñez Muñoz Ortega Peña Ríos Santos Vega Núñez".split(),
    "Japanese": "田中|tanaka 佐藤|sato 鈴木|suzuki 高橋|takahashi 山本|yamamoto 小林|kobayashi".split(),
}
COUNTRIES = {
    "Vietnamese": ("Vietnam",),
    "English": ("United Kingdom", "Ireland", "Australia"),
    "German": ("Germany", "Austria", "Switzerland"),
    "Spanish": ("Spain", "Mexico", "Chile"),
    "Japanese": ("Japan",),
}
COMPANIES = {
    "Vietnamese": ("Công ty TNHH {}", "Công ty Cổ phần {}", "Vận tải {}", "Nội thất {}"),
    "English": ("{} Logistics", "{} Foods Ltd", "{} & Partners", "{} Clinics", "{} Software"),
    "German": ("{} GmbH", "{} Maschinenbau AG", "Bäckerei {}", "{} & Söhne KG"),
    "Spanish": ("Grupo {}", "{} Hermanos S.A.", "Transportes {}", "Bodegas {}"),
    "Japanese": ("株式会社{}", "{}商事", "{}製作所", "有限会社{}"),
}
WORDS = {
    "Vietnamese": "Hoa Sen,Sao Mai,Bình Minh,Thiên Long,Đại Dương,Phương Nam,Tân Việt,An Phú".split(
        ","
    ),
    "English": "Blue Harbour,Northgate,Copperfield,Silver Birch,Redwood,Kingfisher,Longmeadow,Oakham".split(
        ","
    ),
    "German": "Bergmann,Hölzel,Nordlicht,Steinbach,Lindner,Grünewald,Rheintal,Zöllner".split(","),
    "Spanish": "Aurora,Sierra Alta,Peñalara,Mediterráneo,Los Olivos,El Roble,Montaña,Río Claro".split(
        ","
    ),
    "Japanese": "青葉,桜井,富士見,若松,東雲,白川,緑丘,朝日".split(","),
}
PLACES = {
    "Vietnamese": "Đà Nẵng,Huế,Hải Phòng,Cần Thơ,Đà Lạt,Vinh,Nha Trang,Quy Nhơn,Bắc Ninh,Biên Hòa".split(
        ","
    ),
    "English": "Bristol,Cork,Leeds,Perth,Galway,York,Norwich,Hobart,Exeter,Dundee,Bath,Derby".split(
        ","
    ),
    "German": "Köln,Graz,Zürich,Lübeck,Würzburg,Basel,Tübingen,Jena,Linz".split(","),
    "Spanish": "Málaga,Mérida,Córdoba,Valparaíso,León,Gijón,Puebla,Cádiz".split(","),
    "Japanese": "大阪,名古屋,札幌,福岡,仙台,広島,京都,金沢".split(","),
}
TITLES = {
    "management": ("Managing director",) * 3,
    "sales": ("Head of sales", "Sales lead", "Account executive"),
    "support": ("Head of support", "Support lead", "Support agent"),
    "success": ("Head of customer success", "Success lead", "Success manager"),
    "marketing": ("Head of marketing", "Campaign lead", "Marketing specialist"),
    "engineering": ("Head of engineering", "Tech lead", "Engineer"),
    "finance": ("Head of finance", "Accounting lead", "Accountant"),
    "people": ("Head of people", "Recruiting lead", "People partner"),
}
"""The title of each team's head, of those who lead a group, and of the others."""

TASKS = {
    "sales": (
        "Call about the renewal",
        "Send the revised offer",
        "Ask for the signed contract",
        "Book a demo",
    ),
    "support": (
        "Reply to the open complaint",
        "Check the replacement's delivery",
        "Close the ticket",
    ),
    "success": ("Prepare the quarterly review", "Send the onboarding plan", "Ask for a reference"),
    "marketing": ("Invite to the spring event", "Send the case study", "Update the mailing list"),
    "finance": ("Chase the unpaid invoice", "Confirm the billing address", "Send the tax form"),
}
"""What the tasks of each team are. Teams that are not here have none."""

PRODUCTS = ("Licence", "Renewal", "Pilot", "Training", "Premium support", "Integration")
NOTES = (
    "Spoke to {person}, who asks for a call next week.",
    "{person} is happy with the offer but waits for the budget.",
    "No answer on the phone; left a message for {person}.",
    "{person} wants the contract in two languages.",
    "Invoice address has changed; {person} sends the new one.",
    "Khách hàng muốn xem bản demo trước khi ký hợp đồng.",
    "Die Rechnung bitte an die neue Adresse schicken.",
    "来週の打ち合わせは午後に変更になりました。",
    "El cliente pide un descuento del 10% para renovar.",
)
REASONS = {
    "leave": ("Family holiday", "Moving house", "Nghỉ phép về quê", "Parental leave"),
    "expense": ("Train to a customer", "Dinner with a customer", "Conference ticket"),
    "discount": ("Renewal for two years", "Large first order", "Matching an offer"),
    "purchase": ("Second monitor", "Licence for a design tool", "Standing desk"),
}
REPORTS = ("Board", "Weekly", "Monday", "Quarter end", "Team meeting", "Planning")
