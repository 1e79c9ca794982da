//! Claims that put the words of prose together otherwise than the source does.

use crate::citation::support::{Requalified, Reversal};
use crate::citation::{LexicalScorer, PreparedSource, SupportScorer};

#[track_caller]
fn assert_judged(rows: &[(&str, &str, bool)]) {
    super::assert_judged("", "", rows);
}

const LEASE: &str = "If the tenant gives notice before the third working day, the lease ends two months later. The landlord must \
    return the deposit within six months after the end of the lease. The tenant pays for small repairs; the landlord pays for \
    everything else. If the heating fails, the landlord must be informed at once.";
const CLINIC: &str = "Okafor led the clinic until 2010, when Brandt took over; Brandt was followed by Tomas Vidal in 2019. The \
    clinic moved from Hafenstrasse to Lindenplatz. The mayor praised it; the health office criticised its waiting times. Dr Lang \
    reported that the ward was full. Mr Weiss replied that beds could be moved.";
const PLANT: &str = "The plant employed 412 people in 2021 and 389 in 2022. Output fell from 1,200 tonnes to 1,050 tonnes, while \
    the price per tonne rose from 310 to 355 euros. In May a new kiln was built.";
const LIBRARY: &str = "Adults may borrow twelve items, children eight. Membership costs 12 euros a month, or 120 euros a year. We \
    recommend that you renew online. The catalogue will be printed. The hall is open until nine; before that it was open until \
    five. Rinse the cups before you dry them.";

#[test]
fn those_who_do_something_are_not_exchanged() {
    assert_judged(&[
        (LEASE, "The deposit must be returned by the landlord within six months.", true),
        (LEASE, "The tenant must return the deposit within six months after the end of the lease.", false),
        (LEASE, "The landlord pays for small repairs.", false),
        (CLINIC, "Brandt was followed by Vidal in 2019.", true),
        (CLINIC, "Vidal was followed by Brandt in 2019.", false),
        (CLINIC, "The clinic's waiting times were criticised by the health office.", true),
        (CLINIC, "The mayor criticised the clinic's waiting times.", false),
        (CLINIC, "Mr Weiss replied that beds could be moved.", true),
        (CLINIC, "Dr Lang replied that beds could be moved.", false),
        (PLANT, "The price per tonne rose from 310 to 355 euros.", true),
        (PLANT, "Output rose from 1,050 to 1,200 tonnes.", false),
    ]);
}

#[test]
fn values_and_places_are_not_exchanged() {
    assert_judged(&[
        (LIBRARY, "Adults may borrow twelve items and children eight.", true),
        (LIBRARY, "Adults may borrow eight items, children twelve.", false),
        (LIBRARY, "Membership costs 12 euros per month.", true),
        (LIBRARY, "Membership costs 120 euros a month.", false),
        (CLINIC, "The clinic moved to Lindenplatz from Hafenstrasse.", true),
        (CLINIC, "The clinic moved from Lindenplatz to Hafenstrasse.", false),
    ]);
}

#[test]
fn conditions_reasons_order_and_time_are_those_of_the_source() {
    assert_judged(&[
        (LEASE, "The landlord must be informed at once if the heating fails.", true),
        (LEASE, "If the tenant gives notice, the landlord must be informed at once.", false),
        (PLANT, "Output fell because a new kiln was built.", false),
        (LIBRARY, "Rinse the cups, then dry them.", true),
        (LIBRARY, "Dry the cups before you rinse them.", false),
        (LIBRARY, "You should renew online.", true),
        (LIBRARY, "You must renew online.", false),
        (LIBRARY, "The catalogue has been printed.", false),
        (LIBRARY, "The hall is currently open until nine.", true),
        (LIBRARY, "The hall is currently open until five.", false),
    ]);
}

#[test]
fn figures_that_follow_from_two_others_are_supported() {
    assert_judged(&[
        (PLANT, "Output fell by 150 tonnes.", true),
        (PLANT, "Output fell by 250 tonnes.", false),
        (PLANT, "The plant employed 23 people less in 2022 than in 2021.", true),
        (PLANT, "The plant employed 23 people more in 2022 than in 2021.", false),
        (PLANT, "The price per tonne went up by 45 euros.", true),
    ]);
}

#[test]
fn the_way_in_which_a_claim_differs_is_told() {
    for (source, claim, expected) in [
        (LEASE, "The landlord pays for small repairs.", Requalified::Agent),
        (LIBRARY, "Adults may borrow eight items, children twelve.", Requalified::Exchanged),
        (LEASE, "If the tenant gives notice, the landlord must be informed at once.", Requalified::OtherCondition),
        (LIBRARY, "Dry the cups before you rinse them.", Requalified::Order),
        (PLANT, "Output fell because a new kiln was built.", Requalified::Reason),
        (LIBRARY, "The hall is currently open until five.", Requalified::Past),
    ] {
        let sources = [PreparedSource::new(source)];
        let support = LexicalScorer::new(&sources).support(claim, &[0]);
        assert_eq!(support.reversal, Some(Reversal::Qualifier(expected)), "{claim}");
    }
}
