//! How long the service takes to say that there is nothing: of what another tenant has, or what is hidden from the asker, and
//! of what nobody has.

mod operations;
mod things;

use std::time::{Duration, Instant};

use anyhow::ensure;
use bytes::Bytes;
use hyper::{Method, StatusCode};

use self::{operations::Probe, things::Hidden};
use super::Target;
use crate::{asks::percentile_ms, client::Client, progress, random::Random};

const PAIRS: usize = 1_000;
const SEED: u64 = 404;
/// Standard deviations that chance does not make twice in the same direction.
const TOO_FAR: f64 = 4.0;

/// An operation on what is hidden in one way, and on what is not there.
struct Thing {
    name: String,
    key: String,
    there: Probe,
    nothing: Probe,
}

/// Times of both kinds of requests for one kind of thing.
pub(super) struct Probed {
    thing: String,
    /// Ascending.
    of_another: Vec<Duration>,
    of_nothing: Vec<Duration>,
}

/// Every operation on everything that is hidden, where that is another request than the one on nothing.
async fn things(target: &Target) -> anyhow::Result<Vec<Thing>> {
    let document = Client::connect(target.address).await?.json(Method::GET, "/openapi.json", None).await?;
    let mut things = Vec::new();
    let operations = operations::operations(&document)?;
    for Hidden { from, key, scopes, there, nothing } in things::hidden(target).await? {
        for operation in operations.iter().filter(|operation| operation.is_open_to(scopes)) {
            if operation.makes() && from == "another tenant" {
                continue;
            }
            let (of_there, of_nothing) = (operation.probe(&there)?, operation.probe(&nothing)?);
            if of_there != of_nothing {
                let name = format!("{}, hidden by {from}", operation.id);
                things.push(Thing { name, key: key.clone(), there: of_there, nothing: of_nothing });
            }
        }
    }
    Ok(things)
}

/// Asks for things that are hidden from the asker and for what nobody has in turn, of each kind as often; all of it twice. Of
/// all kinds those whose name has this text.
pub(super) async fn measure(target: &Target, named: &str) -> anyhow::Result<[Vec<Probed>; 2]> {
    let mut things = things(target).await?;
    things.retain(|thing| thing.name.contains(named));
    ensure!(!things.is_empty(), "no probe has {named:?} in its name");
    let mut random = Random::new(SEED);
    let mut runs = [Vec::new(), Vec::new()];
    for (number, run) in (1..).zip(&mut runs) {
        for thing in &things {
            progress(&format!("storms: probing, {number} of 2: {}", thing.name));
            run.push(probe(target, thing, &mut random).await?);
        }
    }
    Ok(runs)
}

async fn probe(target: &Target, thing: &Thing, random: &mut Random) -> anyhow::Result<Probed> {
    let mut asker = Client::connect(target.address).await?.with_key(&thing.key);
    let (mut of_another, mut of_nothing) = (Vec::with_capacity(PAIRS), Vec::with_capacity(PAIRS));
    for _ in 0..PAIRS {
        let mut turns = [(&mut of_another, &thing.there), (&mut of_nothing, &thing.nothing)];
        if random.below(2) == 0 {
            turns.reverse();
        }
        let mut statuses = Vec::with_capacity(2);
        for (times, Probe { method, path, body }) in turns {
            let body = body.clone().map(|(media_type, text)| (media_type, Bytes::from(text)));
            let started = Instant::now();
            let (status, _) = asker.send_as(method.clone(), path, body).await?;
            times.push(started.elapsed());
            ensure!(!status.is_server_error() && status != StatusCode::BAD_REQUEST, "{}: {status}", thing.name);
            statuses.push(status);
        }
        ensure!(statuses.first() == statuses.last(), "{} is told by its status: {statuses:?}", thing.name);
    }
    of_another.sort_unstable();
    of_nothing.sort_unstable();
    Ok(Probed { thing: thing.name.clone(), of_another, of_nothing })
}

impl Probed {
    /// Standard deviations by which the sum of ranks is off what it is where both are alike (Mann, Whitney).
    fn deviation(&self) -> f64 {
        let smaller = |time: &Duration| self.of_nothing.partition_point(|other| other < time);
        let wins: usize = self.of_another.iter().map(smaller).sum();
        #[expect(clippy::cast_precision_loss, reason = "numbers of a table")]
        let [wins, count] = [wins, self.of_another.len()].map(|number| number as f64);
        (wins - count * count / 2.0) / (count * count * (2.0 * count + 1.0) / 12.0).sqrt()
    }
}

/// The things that answer differently in both runs.
pub(super) fn told([first, second]: &[Vec<Probed>; 2]) -> Vec<String> {
    let deviations = first.iter().zip(second).map(|(one, other)| (&one.thing, one.deviation(), other.deviation()));
    let is_told = |one: f64, other: f64| one.abs() > TOO_FAR && other.abs() > TOO_FAR && one.signum() == other.signum();
    deviations.filter(|(_, one, other)| is_told(*one, *other)).map(|(thing, ..)| thing.clone()).collect()
}

pub(super) fn table([first, second]: &[Vec<Probed>; 2]) -> String {
    let mut table = format!("| {PAIRS} times asked for, twice | hidden | nobody's | deviation |\n|---|---|---|---|\n");
    for (one, again) in first.iter().zip(second) {
        let times = |one: &Probed| [&one.of_another, &one.of_nothing].map(|times| percentile_ms(times, 0.5));
        let ([hidden, nothing], [hidden_again, nothing_again]) = (times(one), times(again));
        let row = format!(
            "| {} | {hidden:.3}, {hidden_again:.3} ms | {nothing:.3}, {nothing_again:.3} ms | {:+.1}, {:+.1} σ |\n",
            one.thing,
            one.deviation(),
            again.deviation()
        );
        table.push_str(&row);
    }
    table
}
