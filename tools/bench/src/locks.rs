//! The price of each lock: the same asks and uploads with one lock more from case to case, in one run.
//!
//! Every case is a process over the same data, and all are visited in turn, round after round, so that what the machine does
//! meanwhile meets all of them alike. Locks without a switch (the conditions of statements, the lists of operations)
//! are in every case.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    time::{Duration, Instant},
};

use anyhow::{Context as _, bail};
use hyper::Method;
use serde_json::json;
use sqlx::{Connection as _, Executor as _, PgConnection};

use crate::{
    arguments::{number, release_build},
    client::Client,
    corpus::{Corpus, Paragraph},
    ingest::send_all,
    model_server::ModelServer,
    posts::{Door, per_second},
    progress, raw_copy,
    report::machine,
    service::{KEYS, OPERATOR, Service, Setup, open_to_postgres},
    single::{UPLOAD, is_stored},
    tls,
};

/// Arguments of the command.
pub const USAGE: &str = "\
Measures asks and uploads with one lock more from case to case. Usage:

  cargo run --release -p cited-bench -- locks [OPTIONS]

  --binary PATH      the service (target/release/cited)
  --documents N      documents of each of two collections (5000)
  --asks N           asks of a visit, from two clients (400)
  --singles N        single documents of a visit, from eight clients (400)
  --bulk N           documents of one request of a visit (1000)
  --rounds N         visits of each case (5)";

const SEED: u64 = 24;
/// Asks of a visit before the clock runs.
const WARM_UP: usize = 50;
const ASKING: usize = 2;
const UPLOADING: usize = 8;
const POLL: Duration = Duration::from_millis(5);

/// The measurement to run.
#[derive(Clone, Debug)]
pub struct LocksArguments {
    binary: PathBuf,
    documents: usize,
    asks: usize,
    singles: usize,
    bulk: usize,
    rounds: usize,
}

impl LocksArguments {
    /// Reads what follows `locks`.
    pub fn read(mut given: impl Iterator<Item = String>) -> anyhow::Result<Self> {
        let mut arguments =
            Self { binary: release_build(), documents: 5_000, asks: 400, singles: 400, bulk: 1_000, rounds: 5 };
        while let Some(name) = given.next() {
            match (name.as_str(), given.next()) {
                ("--binary", Some(value)) => arguments.binary = value.into(),
                ("--documents", Some(value)) => arguments.documents = number(&value)?,
                ("--asks", Some(value)) => arguments.asks = number(&value)?,
                ("--singles", Some(value)) => arguments.singles = number(&value)?,
                ("--bulk", Some(value)) => arguments.bulk = number(&value)?,
                ("--rounds", Some(value)) => arguments.rounds = number::<usize>(&value)?.max(1),
                _ => bail!("{USAGE}"),
            }
        }
        Ok(arguments)
    }
}

/// The collections that are filled grow for as long as the run takes: a graph that is built meanwhile would count for whichever
/// case is measured at that moment.
const NO_GRAPH: [(&str, &str); 1] = [("CITED_VECTOR_GRAPH_FROM", "1000000000")];
const LIMITS: [(&str, &str); 4] = [
    ("CITED_KEY_REQUESTS_PER_MINUTE", "10000000"),
    ("CITED_KEY_CONCURRENCY", "1000"),
    ("CITED_KEY_ASKS_PER_DAY", "100000000"),
    ("CITED_KEY_DOCUMENTS_PER_DAY", "100000000"),
];
const QUOTAS: [(&str, &str); 3] = [
    ("CITED_TENANT_MAX_DOCUMENTS", "100000000"),
    ("CITED_TENANT_MAX_BYTES", "1000000000000"),
    ("CITED_TENANT_MAX_COLLECTIONS", "1000"),
];

/// The function that writes security events, and one in its place that does not.
const RECORD: &str = "SELECT pg_get_functiondef('write_security_events'::regproc)";
const NO_RECORD: &str = "CREATE OR REPLACE FUNCTION write_security_events(in_rows jsonb) RETURNS void
    LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = public, pg_temp AS 'SELECT'";

/// A set of locks, each with all of those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Case {
    None,
    Record,
    RowSecurity,
    Keys,
    Limits,
    Quotas,
    Lists,
    Tls,
}

impl Case {
    const ALL: [Self; 8] =
        [Self::None, Self::Record, Self::RowSecurity, Self::Keys, Self::Limits, Self::Quotas, Self::Lists, Self::Tls];

    const fn name(self) -> &'static str {
        match self {
            Self::None => "no key, no row level security, no security events",
            Self::Record => "and security events",
            Self::RowSecurity => "and row level security",
            Self::Keys => "and a key that is stored",
            Self::Limits => "and limits of the key by minute, at once and by day",
            Self::Quotas => "and quotas of the tenant",
            Self::Lists => "and an access control list of each document",
            Self::Tls => "and TLS",
        }
    }

    fn settings(self) -> Vec<(&'static str, &'static str)> {
        let with = |from: Self, settings: &[(&'static str, &'static str)]| {
            if self >= from { settings.to_vec() } else { Vec::new() }
        };
        [
            with(Self::None, &NO_GRAPH),
            with(Self::Keys, &KEYS),
            with(Self::Limits, &LIMITS),
            with(Self::Quotas, &QUOTAS),
            with(Self::Tls, &tls::SETTINGS),
        ]
        .concat()
    }

    /// The collection that is asked.
    fn collection(self) -> &'static str {
        if self >= Self::Lists { "listed" } else { "open" }
    }

    /// The collection that documents are sent to: one that is asked must not grow from case to case.
    fn filled(self) -> &'static str {
        if self >= Self::Lists { "listed_uploads" } else { "open_uploads" }
    }
}

/// Rates of a visit, per second, and the processor time of service and database for each thousand, in seconds: what else the
/// machine does changes rates more than locks do, and processor time little.
#[derive(Clone, Copy, Debug)]
struct Rates {
    asks: f64,
    singles: f64,
    bulk: f64,
    cpu: [f64; 3],
}

/// The corpus that requests are made of, and how far it is used.
struct Material {
    arguments: LocksArguments,
    corpus: Corpus,
    /// Paragraphs that were sent.
    sent: usize,
    /// Questions that were asked.
    asked: usize,
    /// Secret of the key that is stored, which is one of those that the lists name.
    key: String,
}

/// Measures and prints the table.
pub async fn run(arguments: &LocksArguments) -> anyhow::Result<()> {
    let folder = tempfile::Builder::new().prefix("cited-locks-").tempdir()?;
    open_to_postgres(folder.path())?;
    let models = ModelServer::start(0).await?;
    let data_dir = folder.path().join("locks");
    let setup = Setup { binary: arguments.binary.clone(), data_dir, models: Some(models.base_url()) };
    let visits = (arguments.rounds + 1) * Case::ALL.len();
    let paragraphs = arguments.documents + visits * (arguments.singles + arguments.bulk);
    let corpus = Corpus::generate(paragraphs, SEED);
    let mut material = Material { arguments: arguments.clone(), corpus, sent: 0, asked: 0, key: String::new() };
    progress("locks: filling two collections");
    material.fill(&setup).await?;
    let mut rates: BTreeMap<Case, Vec<Rates>> = BTreeMap::new();
    // The first round is the warm-up.
    for round in 0..=arguments.rounds {
        for case in Case::ALL {
            progress(&format!("locks: round {round}, {}", case.name()));
            let visit = material.visit(&setup, case).await?;
            if round > 0 {
                rates.entry(case).or_default().push(visit);
            }
        }
    }
    println!("{}\n\n{}", machine(), table(&rates));
    Ok(())
}

impl Material {
    /// Makes the key and the collections, and fills those that are asked with the same documents.
    async fn fill(&mut self, setup: &Setup) -> anyhow::Result<()> {
        let service = Service::start_with_settings(setup, &Case::Keys.settings()).await?;
        let mut client = Client::connect(service.address).await?.with_key(OPERATOR);
        let wanted = json!({"name": "bench", "scopes": ["ask", "ingest", "read"], "principals": ["group:bench"]});
        let key = client.json(Method::POST, "/v1/keys", Some(&wanted)).await?;
        key["secret"].as_str().context("a key has a secret")?.clone_into(&mut self.key);
        self.sent = self.arguments.documents;
        for case in [Case::None, Case::Lists] {
            for name in [case.collection(), case.filled()] {
                client.json(Method::POST, "/v1/collections", Some(&json!({"name": name}))).await?;
                if case == Case::Lists {
                    let acl = json!({"allow": ["group:bench"]});
                    client.json(Method::PUT, &format!("/v1/collections/{name}/acl"), Some(&acl)).await?;
                }
            }
            for documents in self.corpus.paragraphs.get(..self.sent).unwrap_or_default().chunks(1_000) {
                send_all(&mut client, case.collection(), documents, POLL).await?;
            }
        }
        service.stop().await
    }

    /// Starts the service with the locks of this case, and measures.
    async fn visit(&mut self, setup: &Setup, case: Case) -> anyhow::Result<Rates> {
        let service = Service::start_with_settings(setup, &case.settings()).await?;
        let mut owner = PgConnection::connect_with(&raw_copy::superuser(&setup.data_dir)?).await?;
        let record: String = sqlx::query_scalar(RECORD).fetch_one(&mut owner).await?;
        if case < Case::Record {
            owner.execute(NO_RECORD).await?;
        }
        if case < Case::RowSecurity {
            owner.execute(row_security("DISABLE")).await?;
        }
        let rates = self.measure(&service, case).await;
        // The service starts with forced policies only.
        if case < Case::RowSecurity {
            owner.execute(row_security("ENABLE")).await?;
        }
        owner.execute(sqlx::raw_sql(sqlx::AssertSqlSafe(record))).await?;
        owner.close().await?;
        service.stop().await?;
        rates
    }

    async fn measure(&mut self, service: &Service, case: Case) -> anyhow::Result<Rates> {
        let key = (case >= Case::Keys).then_some(self.key.as_str());
        let door = |path| Door { address: service.address, path, key, has_tls: case >= Case::Tls };
        let LocksArguments { asks, singles, bulk, .. } = self.arguments;
        let ask = |question: &String| json!({"question": question, "collections": [case.collection()], "cache": {"ttl_s": 0}});
        let questions = self.corpus.questions.iter().cycle().skip(self.asked);
        let warm_up = questions.clone().take(WARM_UP).map(ask).collect();
        door("/v1/ask").post_each(warm_up, ASKING, |_| Ok(())).await?;
        let questions = questions.skip(WARM_UP).take(asks).map(ask).collect();
        let cpu = || service.cpu_seconds().map(|(service, database)| service + database);
        let before_asks = cpu()?;
        let asked = door("/v1/ask").post_each(questions, ASKING, |_| Ok(())).await?;
        let document = |paragraph: &Paragraph| json!({"collection": case.filled(), "documents": [paragraph]});
        let new = self.corpus.paragraphs.get(self.sent..).unwrap_or_default();
        let bodies = new.iter().take(singles).map(document).collect();
        let before_singles = cpu()?;
        let single = door(UPLOAD).post_each(bodies, UPLOADING, is_stored).await?;
        let mut client = door(UPLOAD).connect().await?;
        let (started, before_bulk) = (Instant::now(), cpu()?);
        let documents: Vec<Paragraph> = new.iter().skip(singles).take(bulk).cloned().collect();
        send_all(&mut client, case.filled(), &documents, POLL).await?;
        let elapsed = started.elapsed();
        #[expect(clippy::cast_precision_loss, reason = "numbers of a table")]
        let of_thousand = |seconds: f64, number: usize| seconds * 1_000.0 / number.max(1) as f64;
        let cpu = [
            of_thousand(before_singles - before_asks, asks),
            of_thousand(before_bulk - before_singles, singles),
            of_thousand(cpu()? - before_bulk, bulk),
        ];
        let rates =
            Rates { asks: asked.per_second(), singles: single.per_second(), bulk: per_second(bulk, elapsed), cpu };
        self.asked += asks + WARM_UP;
        self.sent += singles + bulk;
        Ok(rates)
    }
}

/// Turns the policies of all tables off or on.
fn row_security(word: &'static str) -> sqlx::RawSql {
    sqlx::raw_sql(sqlx::AssertSqlSafe(format!(
        "DO $$ DECLARE one regclass; BEGIN
             FOR one IN SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relforcerowsecurity LOOP
                 EXECUTE format('ALTER TABLE %s {word} ROW LEVEL SECURITY', one);
                 COMMIT; -- of all tables at once, it and the service would wait for each other
             END LOOP; END $$"
    )))
}

/// Medians of the rounds, with their distance from the first case in per cent.
fn table(rates: &BTreeMap<Case, Vec<Rates>>) -> String {
    let mut table = "| locks | asks | single documents | documents of one request | CPU of 1,000 asks | of 1,000 single documents | of 1,000 of one request |\n\
                     |---|---|---|---|---|---|---|\n"
        .to_owned();
    let columns: [fn(&Rates) -> f64; 6] = [
        |rates| rates.asks,
        |rates| rates.singles,
        |rates| rates.bulk,
        |rates| rates.cpu[0],
        |rates| rates.cpu[1],
        |rates| rates.cpu[2],
    ];
    let medians = |visits: &Vec<Rates>| columns.map(|column| median(visits.iter().map(column).collect()));
    let first = rates.get(&Case::None).map(medians).unwrap_or_default();
    for (case, visits) in rates {
        let cells = medians(visits).into_iter().zip(first).enumerate().map(|(column, (value, bare))| {
            let value_shown = if column < 3 { format!("{value:.0}/s") } else { format!("{value:.2} s") };
            match case {
                Case::None => value_shown,
                _ => format!("{value_shown} ({:+.1} %)", (value / bare - 1.0) * 100.0),
            }
        });
        let cells: Vec<String> = cells.collect();
        table = [table, format!("| {} | {} |\n", case.name(), cells.join(" | "))].concat();
    }
    table
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}
