var e=Object.entries(Object.assign({"../../samples/handbook/annual-leave.md":`# Annual leave

Owner: People team (Ines Okafor). Last reviewed: 12 January 2026.

## How much you have

Everyone who works full time has 28 days of paid annual leave a year, on top of public holidays. The leave year runs from 1 January to 31 December. Part-time colleagues have the same share of 28 days as their share of a full week: three days a week are 16.8 days, which we round up to 17.

You gain one extra day for every three full years with the company, up to 33 days in all. If you join during the year, your first year's leave counts from your first day, by whole months.

## Asking for it

Ask in Roster, our leave calendar, and your manager answers within three working days. Give notice of at least twice the length of the leave: for two weeks off, ask four weeks before. A request that has had no answer after five working days counts as approved.

At most a third of a team may be away on the same day. If two requests collide, the earlier one wins. The field engineering team has no leave in the two weeks of spring commissioning, which in 2026 are 13 to 24 April.

## Carrying days over

You can carry over up to five unused days into the next year. Carried days must be taken by 31 March; after that they lapse. Days that you could not take because of illness, parental leave or a manager's refusal do not count towards the five and do not lapse.

We do not pay out unused leave, except when you leave the company.

## Buying and selling days

Once a year, from 1 to 15 November, you can buy up to five days for the coming year. A day costs 1/260 of your yearly salary and is deducted over twelve months. Days cannot be sold.

## Falling ill on leave

If you fall ill during your leave, tell your manager on the first day of the illness. From that day on it is sick leave and the days go back to your balance. For more than three days we need a doctor's note.
`,"../../samples/handbook/data-retention.md":`# Data retention

Owner: Data protection (Tobias Renner). Version 3, in force since 1 December 2025.

We keep data as long as we need it or the law asks for it, and not a day longer. What is not in this table is kept for two years.

| data | kept for | from |
|---|---|---|
| Readings of stations | as the customer's plan says | the time of the reading |
| Alarms and who acknowledged them | 7 years | the alarm |
| Customer contracts and invoices | 10 years | the end of the year |
| Support tickets | 3 years | closing the ticket |
| Access logs | 180 days | the entry |
| Backups | 35 days | the backup |
| Applications of people who were not hired | 6 months | the refusal |
| Personnel files | 10 years | the last day of work |
| Recordings of video meetings | 60 days | the meeting |
| Visitor book | 30 days | the visit |

Access logs are kept for 180 days. Backups are kept for 35 days; deleted data is therefore gone for good 35 days after its deletion. Recordings of video meetings are deleted after 60 days unless somebody marks them as needed, with a reason.

## Deleting on request

Requests of people to see or delete their data go to privacy and are answered within 30 days. Tobias Renner decides; the platform team carries it out within ten working days and confirms it in the ticket. Readings of stations are not personal data.

## Legal hold

If a dispute is likely, the data protection officer can put data on hold. Held data is not deleted until the hold is lifted in writing. At the moment there is one hold, on the contracts of the Elderbeck reservoir project, since 14 October 2025.

## Checks

Deletion jobs run every night at 02:15. Each quarter somebody who did not write the jobs takes 20 random records that should be gone and looks for them. In the check of January 2026 all 20 were gone.
`,"../../samples/handbook/glossary.txt":`GLOSSARY

Words that we use and others may not. Owner: Documentation (Lena Petrov). Last change: 3 March 2026.

Alarm. A message to a customer that a level or a rate of change has passed its limit. Not the same as a page, which wakes up one of us.

Brook, Stream, River. The three plans that customers can buy. See the page on pricing plans.

Commissioning. Bringing a new station into service on site: mounting, levelling, the first hundred readings, and the customer's signature. It takes a day and a half on average.

Drift. The slow wandering of a sensor away from the truth. A Heron may drift by at most 2 millimetres a year; beyond that it is recalibrated free of charge.

Heron. Our radar level sensor. It measures the distance to the water surface without touching it, to within 1 millimetre up to 15 metres and 3 millimetres up to 35 metres. Heron 2 was introduced in May 2023.

Kingfisher. The working name of the next sensor, which will measure the speed of the surface as well as the level. Planned for the second quarter of 2027. Do not use the name with customers.

Ledgerly. The expenses tool.

Page. A call to the person on call, sent by Siren.

Reading. One measured value with its time. A station sends a reading every five minutes, and every 30 seconds during a flood watch.

Roster. The tool for leave, rotas, desks, rooms and vans.

Siren. The alerting tool for our own staff.

Staging. The copy of Weir in which releases are tried against recorded readings.

Station. A Heron with its mast, solar panel, battery and modem. The battery lasts 21 days without sun.

Strongroom. The password manager.

Weir. Our cloud service. It receives readings, keeps them, draws curves, and sends alarms. Weir handles 11 million readings a day, from 3,400 stations in nine countries.

Zero point. The height above sea level of a station's sensor, surveyed at commissioning. A wrong zero point is the most common cause of a wrong level.
`,"../../samples/handbook/laptops-and-phones.md":`# Laptops and phones

Owner: IT (Priya Sandoval). Last reviewed: 20 January 2026.

## What you get

Everyone gets a laptop, a screen of 27 inches, a keyboard, a mouse and a headset. Engineers choose between two models: the 14-inch with 32 GB of memory or the 16-inch with 64 GB. Everyone else has the 14-inch with 16 GB.

The company pays for a phone only if you are on call or in the field. Others can have 15 EUR a month towards their own contract.

## Replacement

Laptops are replaced every four years, and phones every three. A laptop that no longer gets security updates is replaced at once. You may keep the old laptop for 120 EUR after IT has wiped it; the money goes to the staff fund.

If something breaks, take it to the IT desk at Tarn Street, open on working days from 09:00 to 16:00, or write to #it-help. You get a loan laptop the same day. Colleagues who work elsewhere have one sent within two working days.

## Rules

- The disk is encrypted and the screen locks after five minutes. Do not change either.
- Install updates within seven days. After 14 days the laptop loses access to internal systems.
- You may install software yourself if it is in the catalogue. Anything else needs a request; IT answers within two working days.
- Customer data does not go onto USB sticks or private devices.
- Private use is fine within reason. Family members may not use the device.

## Travelling with devices

For travel to countries on the red list, take a loan laptop; ask for it ten working days ahead. The red list is kept by Security and changes every quarter.

## Loss

A lost device is a security incident: see the page on security incidents. The company bears the loss, unless it was left in an unlocked car; then you bear 200 EUR of it.
`,"../../samples/handbook/on-call.md":`# On-call

Owner: Platform team (Yusuf Lindqvist). Last reviewed: 2 March 2026.

## The rota

Two people are on call at any time, a primary and a secondary, for one week each. The handover is on Tuesday at 10:00 Central European Time, in the channel #handover. The rota is in Roster and is fixed eight weeks ahead. Nobody is on call more than one week in five.

On-call is voluntary for the first six months in the company. You shadow two full weeks before your first week as secondary.

## What we promise

| severity | meaning | acknowledge within | update customers every |
|---|---|---|---|
| SEV1 | readings are lost, or alarms do not go out | 5 minutes | 30 minutes |
| SEV2 | readings or alarms are late by more than 10 minutes | 15 minutes | 2 hours |
| SEV3 | a function is broken, and there is a way around it | next working day | when it is mended |

The primary acknowledges a SEV1 page within 5 minutes. If a page is not acknowledged within 10 minutes it goes to the secondary, and after another 10 minutes to the engineering manager on duty.

## Pay

A week on call is paid with 450 EUR for the primary and 250 EUR for the secondary. Each page between 22:00 and 07:00 adds 60 EUR. Time spent on an incident is working time and is taken off within the following two weeks.

After a night with more than two hours of work between 22:00 and 07:00, do not work the next morning. Start at noon at the earliest.

## Tools

Pages come from Siren, our alerting tool, to your phone. Test yours on the Monday before your week. Runbooks are in the \`runbooks\` folder of each service's repository; a service without a runbook may not page.

## Afterwards

Each SEV1 and SEV2 has a blameless review within five working days. The primary writes the first draft. Actions get an owner and a date, and the platform team reads open actions aloud every second Thursday.
`,"../../samples/handbook/onboarding.md":`# Your first three months

Owner: People team (Ines Okafor). Last reviewed: 15 January 2026.

Welcome to Quillfern. We make instruments that watch rivers and reservoirs, and Weir, the service that turns their readings into warnings. 130 people work here; about 50 of them are engineers and 18 are in the field.

## Before the first day

IT sends your laptop so that it arrives three working days before you start. You get a letter with your first password; you change it on the first day. Your buddy, somebody from another team, writes to you in the week before.

## The first week

- Monday, 09:30: meet your manager and your buddy at the desk on the first floor.
- Monday, 14:00: security introduction with Amara Voss. You get two hardware keys; keep one at home.
- Tuesday: tools: Roster for calendars and bookings, Ledgerly for expenses, Siren for alerts, Strongroom for passwords.
- Wednesday: a day in the workshop. You put a Heron sensor together with your own hands.
- Thursday: read this handbook. Questions go to #newcomers.
- Friday, 15:00: tea with the managing director, Henrik Asante.

## Courses

Three courses are required and must be done within 30 days: information security (45 minutes), data protection (40 minutes) and fire safety (20 minutes). Field engineers also take the course on working near water, which lasts two days and is repeated every 24 months.

Everyone has 1,200 EUR and five days a year for learning. Your manager approves up to 500 EUR alone.

## A visit to the field

Within the first 90 days everyone goes along on one site visit, whatever their role. Ask Oskar Brandt, who plans the visits, for a date.

## Trial period

The trial period lasts six months. You and your manager talk after 30, 60 and 90 days, with notes that both sign. Within the trial period the notice period is two weeks; afterwards it is two months.

## Rewards for recommending people

If somebody you recommended is hired and passes the trial period, you get 1,500 EUR. For roles that have been open for more than four months it is 2,500 EUR.
`,"../../samples/handbook/parental-leave.md":`# Parental leave

Owner: People team (Ines Okafor). In force for children born or placed on or after 1 February 2026.

## Who has it

Every parent who has been with us for 26 weeks has parental leave: by birth, by adoption, by surrogacy, and as the partner of a parent. It makes no difference which parent you are.

## How long and how much

| leave | length | pay |
|---|---|---|
| Birth or adopting parent | 26 weeks | 20 weeks at full pay, then 6 weeks at 60 % |
| Second parent | 12 weeks | all 12 weeks at full pay |
| Unpaid extension, either parent | up to 26 weeks | none |

The birth or adopting parent has 26 weeks of leave, of which 20 weeks are at full pay. The second parent has 12 weeks, all at full pay. Twins and further children add two paid weeks for each child after the first.

Colleagues with less than 26 weeks of service have the same time off, but only the statutory pay.

## Taking it

The second parent may split the 12 weeks into at most three blocks. Every block must begin within 12 months of the birth. Leave before the birth can start up to 11 weeks before the due date.

Tell your manager and the People team at least 15 weeks before the due date, and six weeks before each further block. Dates can be moved once with four weeks' notice.

## While you are away

You stay in the bonus plan and keep your annual leave: the days grow as if you were at work and do not lapse. You keep your laptop and accounts. Nobody expects you to read mail.

You have ten keeping-in-touch days. Each is optional, paid at full rate, and does not shorten the leave.

## Coming back

You come back to the same role. For the first eight weeks you can work 80 % of your hours at full pay; agree the pattern with your manager at least two weeks before the first day back.

A room for nursing is on the second floor at Tarn Street, room 2.07. It has a lock and a fridge.
`,"../../samples/handbook/pricing-plans.md":`# Pricing plans

Owner: Sales (Colette Baird). Prices in force since 1 January 2026, without tax. For internal use; customers get the published list.

## The plans

| | Brook | Stream | River |
|---|---|---|---|
| Price per station and month | 19 EUR | 45 EUR | 89 EUR |
| Stations | up to 5 | up to 100 | any number |
| Readings kept for | 1 year | 5 years | 15 years |
| Alarms by | mail | mail and text message | mail, text message and voice call |
| Availability promised | none | 99.5 % | 99.9 % |
| Support | mail, two working days | mail, four working hours | telephone, day and night |

The Brook plan costs 19 EUR per station and month and is for up to five stations. The Stream plan costs 45 EUR per station and month. The River plan costs 89 EUR per station and month and is the only one with telephone support day and night.

## Discounts

Paying for a year in advance gives 10 %. Public bodies with more than 50 stations get 15 %. Discounts do not add up: the larger one counts. Anything above 15 % needs the approval of Colette Baird, and above 25 % that of the managing director.

Universities have the Stream plan for up to ten stations free of charge, if they publish what they find.

## Hardware

A Heron 2 station costs 3,850 EUR, with mast, panel, battery and modem. Commissioning costs 950 EUR a station, or 700 EUR from the fifth station of an order on. The warranty lasts three years, and five years with the River plan.

## Changing and ending

A move to a larger plan takes effect at once; a move to a smaller one at the end of the month. Contracts run for 12 months and renew for 12 months unless ended 60 days before. After the end, customers can export their readings for 90 days.

## When we miss what we promised

If availability falls below the promise in a month, the customer gets 10 % of that month's fee back for every started 0.1 % below it, at most 50 %. Customers ask for it within 30 days; it is set off against the next invoice.
`,"../../samples/handbook/release-process.md":`# Release process

Owner: Platform team (Yusuf Lindqvist). Last reviewed: 26 February 2026.

## Rhythm

Weir, our cloud service, is released every Tuesday and Thursday at 11:00. There are no releases on Fridays, on the day before a public holiday, or from 18 December to 4 January. Sensor firmware is released on the first Wednesday of each quarter.

## From change to release

1. Every change has one review by somebody who did not write it. Changes to alarms, billing or sign-in need two.
2. The checks must be green. They take about 14 minutes; a change that makes them slower than 20 minutes is sent back.
3. The release train leaves with what is merged by 17:00 of the day before.
4. It runs on the staging system overnight, against recorded readings of 300 stations.
5. The release captain looks at the night's report and decides at 10:30.

The release captain changes every week; the order is in Roster. Only the captain and the engineering manager on duty can stop or start a release.

## Rolling out

A release goes to 5 % of stations first, after 30 minutes to 25 %, and after two hours to all. It is rolled back by itself when more than 0.5 % of readings fail or when alarms are late by more than two minutes. A rollback takes about four minutes.

Firmware goes to our own 40 test stations for two weeks, then to customers who have chosen early updates, and a month later to the rest. A station that does not report within 15 minutes of an update returns to the version before.

## Hotfixes

A hotfix may leave at any time. It needs one reviewer and the approval of the engineering manager on duty, touches as little as possible, and is followed by a review within two working days.

## Telling customers

Release notes are published on the day of the release. Changes that break an interface are announced 90 days ahead, by mail and in the notes, and the old form keeps working for 12 months.
`,"../../samples/handbook/remote-work.md":`# Working from elsewhere

Owner: People team (Ines Okafor). Last reviewed: 30 January 2026.

## At home

You may work from home up to three days a week. Tuesday is the day on which all teams are at Tarn Street. Field engineering and the workshop agree their days with their managers.

Core hours are 10:00 to 15:00 Central European Time. Outside these hours nobody has to answer.

You can have 350 EUR once for a desk or a chair at home, and a new sum after five years. The company does not pay for electricity or the internet connection.

## Abroad

You may work from another country of the European Economic Area or Switzerland for up to 30 days a year. Ask the People team four weeks ahead: it checks tax and insurance. Other countries are possible for up to ten days a year, with the approval of Security.

Working from a country on the red list is not possible.

## Safety

The security rules are the same everywhere. Use the company's network tunnel in hotels and trains, and a privacy screen in public. Printed customer data stays in the office.
`,"../../samples/handbook/security-incidents.md":`# Security incidents

Owner: Security (Amara Voss). Version 4, 9 February 2026.

## When to report

Report at once if you suspect that an account, a device or customer data is in the wrong hands. You do not need proof, and nobody is blamed for a false alarm. Examples: a lost laptop, a password typed into the wrong page, a mail that asks for a payment, a customer's data sent to the wrong person.

## How to report

1. Call the security line at extension 7001. It is answered day and night by the security officer on duty.
2. If nobody answers within five minutes, page "security" in Siren.
3. Write down what you saw, with times, in the channel #security-reports. Do not put customer data there.

Do not switch the device off and do not delete anything. Take it off the network: unplug the cable and turn off wireless.

## What happens then

The security officer on duty opens a case within 30 minutes and names an incident lead. The lead decides who needs to know. Until the lead says otherwise, talk about the case only in its own channel.

A lost or stolen laptop is wiped from afar within one hour of the report. Report it within 24 hours even if you think that you will find it again.

## Telling others

If personal data may be affected, the data protection officer, Tobias Renner, decides within 24 hours whether the authority must be told. The law gives us 72 hours from the moment we know. Affected customers are told by the account manager, with a text that the security officer has approved, at the latest 48 hours after the incident is confirmed.

Nobody but Amara Voss and the managing director speaks to the press.

## Passwords and keys

Passwords belong into the password manager, Strongroom, and nowhere else. A key that was in a repository, a ticket or a chat counts as leaked: replace it the same day, then remove it. All accounts use a hardware key as the second factor; codes by text message are not allowed.

## Drills

We practise twice a year, in May and in November. The last drill, on 18 November 2025, took 41 minutes from the first call to the locked account; the target is 30 minutes.
`,"../../samples/handbook/tarn-street-office.txt":`THE OFFICE AT TARN STREET

Owner: Office team (Beatriz Halloran). Last reviewed: 5 January 2026.

Address and access

The office is at 18 Tarn Street, on floors one to three. The door opens with your badge from 06:30 to 21:00 on working days. Outside these hours you need the night badge, which the office team lends for one week at a time. Visitors sign in at the desk on the first floor and wear a yellow badge; you meet them there and stay with them.

A lost badge must be reported to the office team on the same day. A new one costs nothing the first time and 25 EUR after that.

Desks and rooms

There are 84 desks for 130 people. Book a desk in Roster; a booked desk that is empty at 10:30 becomes free. Meeting rooms are booked for at most two hours. The rooms are named after rivers. Severn, on the third floor, seats 24 and is the only one with a camera that follows the speaker.

The workshop on the first floor is for people who have had the safety introduction. It takes place every first Monday of the month at 09:30. Soldering is allowed at the two benches with an extractor only.

Food

Coffee, tea and fruit are free. Lunch is served on Tuesday, Wednesday and Thursday from 12:00 to 13:30 and costs 4.50 EUR, taken from your salary. Order before 09:30 in Roster. The kitchen on the second floor is free of nuts; please keep it so.

Getting here

The tram lines 3 and 11 stop at Tarn Bridge, four minutes away. There are 46 places for bicycles in the yard, eight of them with a charger, and two showers on the first floor. The 12 car parking places are for visitors, for colleagues with a disability, and for the field vans.

The company pays 70 percent of a yearly ticket for public transport.

Emergencies

When the alarm sounds, leave by the nearest stairs and go to the meeting point at the fountain in Weaver's Yard. Do not use the lift. First aiders wear a green lanyard; there is at least one on every floor. Defibrillators hang at the lifts on floors one and three. The fire drill is in the second week of September.

Dogs

Dogs are welcome on the first floor, at most three at a time. Book a place for the dog in Roster. On the other floors there are colleagues with allergies.
`,"../../samples/handbook/travel-expenses.md":`# Travel and expenses

Owner: Finance (Marek Dufour). Version 7, in force since 1 March 2026.

## Before you travel

Trips under 400 EUR need no approval. Trips from 400 to 2,500 EUR need your manager's approval in Ledgerly, the expenses tool. Above 2,500 EUR, and for every trip to another continent, the head of your department approves as well.

Book trains and flights in Ledgerly at least 14 days ahead. Take the train when the journey takes less than five hours from door to door. Rail may be first class from three hours on. Flights are economy class; premium economy is allowed on flights of more than seven hours.

## Hotels

We pay up to 140 EUR a night, breakfast included. In London, Zurich, Oslo and New York the limit is 210 EUR a night. If nothing is free under the limit, attach a screenshot of the search and your manager can go 25 % above it.

## Meals

The daily allowance is 38 EUR for a full day away and 19 EUR for the days of departure and return. It is paid without receipts. If the host pays for lunch or dinner, 14 EUR are taken off for each meal.

Dinner with customers is paid by receipt, up to 60 EUR a head, tip included. Note the names of the guests and the reason. Alcohol is paid with customers only.

## Cars

Driving your own car is paid at 0.42 EUR per kilometre. The field vans are free to use for site visits: book them in Roster and hand them back with at least half a tank, or 50 % charge for the two electric ones.

## Getting your money back

Hand in expenses within 30 days of the end of the trip. Expenses older than 90 days are not paid. What is handed in by the 20th of a month is paid with that month's salary.

Receipts are needed for everything from 15 EUR on. A lost receipt can be replaced by a signed note, at most three times a year and up to 50 EUR each.

Questions: ask in the channel #expenses; Finance answers on working days before noon.
`})).map(([e,t])=>({source:e.slice(e.lastIndexOf(`/`)+1),text:t,metadata:{sample:!0}}));export{e as documents};