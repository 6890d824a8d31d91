"""What a company's other systems could do: a table from which `catalogue` makes definitions of
functions.

For each namespace its objects, in two lines each: the name with its fields, then its two actions. A
field is `title` (text), `amount:number`, `seats:whole`, `due_on:date`, `customer:id` (the id of
another object), or `status:open|paid` (a choice). An action is a verb and the rest of its sentence:
`send to the customer` of an invoice is `send_invoice`, "Sends an invoice to the customer."
"""

OBJECTS = {
    "billing": """
        invoice: status:draft|sent|paid|void, customer:id, amount:number, due_on:date
            send to the customer by e-mail; void so that it no longer counts
        payment: method:card|transfer|cash, invoice:id, amount:number, received_on:date
            refund in part or in full; match with the invoice that it pays
        credit_note: reason:return|discount|error, invoice:id, amount:number
            apply to an unpaid invoice; reverse with a note for the auditors
        subscription: plan:basic|team|enterprise, customer:id, seats:whole, renews_on:date
            pause until a given date; renew for another period
        price_list: currency:EUR|USD|VND, name, valid_from:date
            publish to the sales team; copy into a new draft
        dunning_letter: level:first|second|final, invoice:id, sent_on:date
            dispatch by post; suspend while a complaint is open
    """,
    "calendar": """
        meeting: kind:call|visit|video, title, starts_on:date, minutes:whole
            reschedule to the next free slot; shorten by some minutes
        room_booking: floor:ground|first|second, room:id, starts_on:date, minutes:whole
            confirm for its organiser; release for others
        availability: day:weekday|weekend, username, from_hour:whole, to_hour:whole
            share with another team; block for a day
        event: audience:team|company|public, title, place, starts_on:date
            announce on the intranet; duplicate for next year
        reminder: channel:mail|chat|phone, text, remind_on:date
            snooze for some hours; forward to a colleague
        shift: slot:early|late|night, username, works_on:date
            swap with a colleague's; extend by some hours
    """,
    "inventory": """
        product: category:hardware|software|service, name, price:number, stock:whole
            discontinue after the last one is sold; relabel with a new barcode
        warehouse: kind:own|partner|transit, name, city, capacity:whole
            close for stocktaking; inspect for safety
        stock_move: direction:in|out|internal, product:id, quantity:whole, moved_on:date
            approve after counting; cancel within a day
        purchase_order: status:draft|ordered|received, supplier:id, total:number, expected_on:date
            place with the supplier; receive into a warehouse
        supplier: rating:preferred|approved|blocked, name, country, lead_days:whole
            rate after a delivery; audit on site
        serial_number: state:new|repaired|scrapped, product:id, code, sold_on:date
            trace through all its moves; retire for good
    """,
    "support": """
        ticket: severity:low|normal|urgent, customer:id, subject, opened_on:date
            escalate to the next level; merge into another
        article: audience:internal|public, title, language, reviewed_on:date
            translate into another language; feature on the help page
        macro: scope:personal|team|all, name, text
            test on a sample; promote to the whole team
        satisfaction_survey: score:good|fair|poor, ticket:id, comment, answered_on:date
            resend if nobody answered; flag for a call back
        escalation: level:second|third|vendor, ticket:id, reason
            accept for the caller's team; resolve with a summary
        service_level: tier:standard|gold|platinum, name, first_answer_hours:whole
            assign to a customer; simulate on last month's cases
    """,
    "marketing": """
        campaign: channel:mail|social|event, name, budget:number, starts_on:date
            launch on its start date; halt at once
        newsletter: language:en|de|vi|ja, subject, sends_on:date
            preview in a mail client; schedule for an hour of the day
        landing_page: state:draft|live|archived, title, address
            publish under its address; compare in an A/B test
        audience: source:crm|import|form, name, size:whole
            refresh from its source; deduplicate by e-mail address
        lead_form: purpose:demo|download|contact, title, page:id
            embed into a page; validate before it goes live
        sponsorship: level:bronze|silver|gold, event_name, fee:number, signed_on:date
            renegotiate at another fee; cancel before it is paid
    """,
    "projects": """
        project: phase:plan|build|closed, name, budget:number, ends_on:date
            kick_off with all members; archive with its files
        milestone: state:ahead|on_track|late, project:id, title, due_on:date
            reach on a given date; shift by some days
        time_entry: kind:billable|internal|travel, project:id, hours:number, worked_on:date
            submit for the week; correct with a reason
        risk: likelihood:low|medium|high, project:id, title, cost:number
            mitigate by a measure; accept in writing
        change_request: impact:small|medium|large, project:id, title, hours:number
            estimate in hours; sign_off for the customer
        retrospective: mood:good|mixed|bad, project:id, held_on:date
            summarise for the team; anonymise before it is shared
    """,
    "legal": """
        contract: kind:sale|lease|employment, party, value:number, ends_on:date
            countersign for the company; terminate with due notice
        clause: risk:low|medium|high, title, text
            compare with the standard text; approve for use
        secrecy_agreement: direction:mutual|inbound|outbound, party, expires_on:date
            request from the other party; extend by a year
        claim: state:open|settled|lost, party, amount:number, filed_on:date
            settle for an amount; contest before the deadline
        trademark: territory:EU|US|VN, name, renews_on:date
            register in another territory; monitor for look-alikes
        data_request: right:access|erasure|portability, person, received_on:date
            verify against the person's identity card; answer within the legal time
    """,
    "facilities": """
        building: use:office|storage|mixed, name, city, floors:whole
            evacuate in a drill; lease to a tenant
        desk: zone:quiet|open|phone, floor:whole, username
            reserve for a day; move to another floor
        maintenance_job: urgency:routine|soon|now, building:id, description, planned_on:date
            dispatch to a contractor; verify when it is finished
        access_badge: level:visitor|staff|admin, username, expires_on:date
            block when it is lost; print at the front desk
        visitor: purpose:meeting|delivery|interview, name, host, visits_on:date
            check_in at the front desk; announce to the host
        energy_reading: meter:power|heat|water, building:id, value:number, read_on:date
            compare with last year; dispute with the provider
    """,
    "travel": """
        trip: status:planned|booked|done, username, destination, leaves_on:date
            book within the policy; cancel before the deadline
        flight: cabin:economy|business, trip:id, number, price:number, flies_on:date
            rebook on a later one; check_in online
        hotel_stay: rating:three|four|five, trip:id, hotel, nights:whole
            prolong by some nights; review for colleagues
        mileage_claim: vehicle:car|bicycle, username, kilometres:number, driven_on:date
            submit with a map; recalculate at this year's rate
        visa: kind:business|work, username, country, expires_on:date
            request from the consulate; track at the consulate
        travel_policy: region:europe|asia|americas, name, hotel_limit:number
            check against a trip; acknowledge in the caller's name
    """,
    "documents": """
        file: kind:pdf|sheet|slides, name, folder:id, changed_on:date
            share by a link; restore to an earlier version
        folder: access:private|team|company, name, owner
            lock for changes; move below another
        template: purpose:letter|offer|report, name, language
            fill with a customer's data; retire from the picker
        signature: state:asked|signed|declined, file:id, signer, asked_on:date
            repeat with a reminder to the signer; withdraw before it is signed
        scan: quality:draft|normal|archive, name, pages:whole
            transcribe into text; split by page
        retention_rule: action:keep|delete|review, name, years:whole
            apply to a folder; suspend during a lawsuit
    """,
    "recruiting": """
        vacancy: mode:office|hybrid|remote, title, team, opens_on:date
            advertise on a job board; close after a hire
        candidate: source:referral|board|agency, name, email, applied_on:date
            shortlist for a vacancy; decline with a letter
        interview: round:phone|technical|final, candidate:id, interviewer, held_on:date
            score by the agreed criteria; postpone to another day
        job_offer: state:draft|sent|accepted, candidate:id, starts_on:date
            extend to the candidate; withdraw before it is accepted
        agency: fee_model:fixed|percent, name, fee:number
            brief about a vacancy; pay for a hire
        onboarding_plan: pace:fast|normal|slow, username, starts_on:date
            begin on the first day; complete with a talk
    """,
    "security": """
        incident: severity:minor|major|critical, title, found_on:date
            contain on the affected systems; report to the authority
        device: platform:windows|mac|linux|phone, username, bought_on:date
            wipe when it is lost; enrol for management
        access_review: system:mail|files|code, reviewer, due_on:date
            certify for a quarter; close with what is to be revoked
        vulnerability: rating:low|medium|high, system_name, found_on:date
            patch on all systems; waive until a date
        backup: target:disk|cloud|tape, system_name, gigabytes:number, made_on:date
            restore into a sandbox; verify by its checksum
        training_course: audience:all|developers|managers, title, minutes:whole
            assign to a team; certify for those who passed
    """,
}
