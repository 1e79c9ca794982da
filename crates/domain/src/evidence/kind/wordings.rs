//! Wordings of questions, and the kind of thing that they ask for.

use super::AnswerKind;
use AnswerKind::{Date, Definition, List, Number, Other, Person, Place, YesNo};

const WORDINGS: [(AnswerKind, &[&str]); 8] = [
    (
        Number,
        &[
            "What do we pay for washing a uniform?",
            "What does a day ticket cost?",
            "What will it cost to move the piano?",
            "What did the roof cost us?",
            "What do you charge for delivery?",
            "What does an apprentice earn in the second year?",
            "What is my notice period?",
            "What's our budget for training?",
            "What was last year's turnover?",
            "What is the maximum allowed upload size?",
            "What were the total operating expenses in 2019?",
            "What is the monthly rent for the workshop?",
            "What is the fare from Brest to Ouessant?",
            "What is the late fee?",
            "At what temperature is milk kept?",
            "How hot may the server room get?",
            "How heavy is the crate?",
            "How soon must an accident be reported?",
            "How quickly do you answer tickets?",
            "How expensive is the parking?",
            "At what age do children pay?",
            "From which age can you join?",
            "Which percentage of the votes is needed?",
            "price of a single room",
            "cost of a new battery",
            "number of employees at the end of 2024",
            "maximum upload size",
            "minimum age for the pool",
            "max number of retries",
            "default port of the exporter",
            "In how many languages is it available?",
            "For how long is the password valid?",
            "how many",
            "What percentage of seats must be filled?",
            "What was the net income in 2018?",
            "What revenue did they report for 2018?",
            "Which fee applies to students?",
        ],
    ),
    (
        Date,
        &[
            "By when do I have to hand in the form?",
            "Until when?",
            "Since when is the bridge closed?",
            "From when on does the new fare hold?",
            "What is the deadline for the tender?",
            "What's the due date of the invoice?",
            "What is the closing time of the library?",
            "How late is the bar open?",
            "How early can I check in?",
            "On which weekday is the market?",
            "What days is the office closed?",
            "On which days is the office open?",
            "What time does the last ferry leave?",
            "deadline for applications",
            "When?",
            "what hours is the pool open",
            "find out when the pool opens",
            "In 1986, when the dam broke, when did they flee?",
            "At what hour does the alarm sound?",
        ],
    ),
    (
        Person,
        &[
            "Whom do I call?",
            "To whom is the form sent?",
            "What is the name of the new head nurse?",
            "What's the name of our lawyer?",
            "Which anaesthetist is on call on Christmas Day?",
            "Which colleague covers for Eva?",
            "Which president signed the act?",
            "Which engineer designed the bridge?",
            "Which employees have a key?",
            "Who's in charge of payroll?",
        ],
    ),
    (
        Place,
        &[
            "Where's the defibrillator?",
            "Where is it?",
            "In which file are the ports set?",
            "Which directory holds the logs?",
            "What folder are invoices in?",
            "In which building is the archive?",
            "Which room is the meeting in?",
            "Where?",
        ],
    ),
    (
        Definition,
        &[
            "What is a lease?",
            "What is a waiting list?",
            "What's a lease?",
            "whats a lease",
            "What is meant by force majeure?",
            "what do they mean by fat friday",
            "What does SLA stand for?",
        ],
    ),
    (
        List,
        &[
            "What documents do I have to bring?",
            "Which languages does it support?",
            "What are the opening hours?",
            "Name all signals that it handles",
            "List the members of the board",
        ],
    ),
    (
        YesNo,
        &[
            "Is it free?",
            "Am I allowed to park there?",
            "Do I have to sign?",
            "Isn't that forbidden?",
            "Can't I cancel?",
            "Are dogs allowed when it rains?",
        ],
    ),
    (
        Other,
        &[
            "How do I change the port of the exporter?",
            "How is the fee calculated?",
            "What happens when the limit is reached?",
            "Why is the price so high?",
            "How does the rate limiter work?",
            "increase the timeout of the proxy",
            "exit status of the pump when the lid is open",
            "Explain the cost of a context switch",
            "What do we pay attention to?",
            "What should I bring?",
            "Which server stores the keys?",
            "Which driver does the printer use?",
            "ports and adapters",
            "limit memory of a container",
        ],
    ),
];

#[test]
fn wordings_ask_for_their_kind() {
    let mut wrong = Vec::new();
    for (kind, questions) in WORDINGS {
        wrong.extend(
            questions
                .iter()
                .filter(|question| AnswerKind::of(question) != kind)
                .map(|question| (kind, AnswerKind::of(question), *question)),
        );
    }
    assert_eq!(wrong, []);
}
