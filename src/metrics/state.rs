//! The state of the database, the queue and the process, as it is when it is asked for.

use std::sync::atomic::AtomicU64;

use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{family::Family, gauge::Gauge},
    registry::{Registry, Unit},
};

/// A gauge of any number.
type FloatGauge = Gauge<f64, AtomicU64>;

/// Documents that wait or are processed, of all tenants.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct QueueState {
    pub(crate) jobs: u64,
    pub(crate) documents: u64,
    pub(crate) bytes: u64,
    /// Age of the oldest job that has not ended.
    pub(crate) oldest_seconds: f64,
}

/// A table of the database.
#[derive(Clone, Debug)]
pub(crate) struct TableState {
    pub(crate) name: String,
    pub(crate) bytes: u64,
    /// Bytes of its indexes.
    pub(crate) index_bytes: u64,
    /// Rows as the database estimates them.
    pub(crate) rows: f64,
}

/// A pool of connections.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PoolState {
    pub(crate) name: &'static str,
    pub(crate) in_use: u64,
    pub(crate) idle: u64,
    pub(crate) most: u64,
}

/// A loop of the process.
#[derive(Clone, Debug)]
pub(crate) struct LoopState {
    pub(crate) name: String,
    pub(crate) silent_seconds: f64,
    /// Whether it should have moved by now.
    pub(crate) is_stalled: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct TableLabels {
    table: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct PoolLabels {
    pool: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ConnectionLabels {
    pool: &'static str,
    state: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct LoopLabels {
    name: String,
}

pub(super) struct StateGauges {
    database_up: FloatGauge,
    queue_jobs: FloatGauge,
    queue_documents: FloatGauge,
    queue_bytes: FloatGauge,
    queue_age: FloatGauge,
    table_bytes: Family<TableLabels, FloatGauge>,
    index_bytes: Family<TableLabels, FloatGauge>,
    rows: Family<TableLabels, FloatGauge>,
    connections: Family<ConnectionLabels, FloatGauge>,
    most_connections: Family<PoolLabels, FloatGauge>,
    loop_silence: Family<LoopLabels, FloatGauge>,
    loop_stalled: Family<LoopLabels, FloatGauge>,
}

impl StateGauges {
    pub(super) fn register(registry: &mut Registry) -> Self {
        let one = |registry: &mut Registry, name, help| {
            let gauge = FloatGauge::default();
            registry.register(name, help, gauge.clone());
            gauge
        };
        Self {
            database_up: one(registry, "database_up", "Whether the database answers"),
            queue_jobs: one(registry, "queue_jobs", "Jobs that have not ended"),
            queue_documents: one(registry, "queue_documents", "Documents of these jobs that are not done"),
            queue_bytes: one(registry, "queue_bytes", "Bytes of these documents as they were sent"),
            queue_age: one(registry, "queue_oldest_job_age_seconds", "Age of the oldest job that has not ended"),
            table_bytes: family(registry, "table_bytes", "Size of a table of the database without its indexes"),
            index_bytes: family(registry, "table_index_bytes", "Size of the indexes of a table"),
            rows: family(registry, "table_rows", "Rows of a table as the database estimates them"),
            connections: family(registry, "database_connections", "Connections of a pool, in use and idle"),
            most_connections: family(registry, "database_connections_limit", "Most connections of a pool"),
            loop_silence: silence(registry),
            loop_stalled: family(registry, "background_loop_stalled", "Whether a loop should have moved by now"),
        }
    }

    pub(super) fn set(&self, queue: Option<&QueueState>, tables: &[TableState]) {
        self.database_up.set(f64::from(u8::from(queue.is_some())));
        let QueueState { jobs, documents, bytes, oldest_seconds } = queue.copied().unwrap_or_default();
        self.queue_jobs.set(number(jobs));
        self.queue_documents.set(number(documents));
        self.queue_bytes.set(number(bytes));
        self.queue_age.set(oldest_seconds);
        for TableState { name, bytes, index_bytes, rows } in tables {
            let labels = TableLabels { table: name.clone() };
            self.table_bytes.get_or_create(&labels).set(number(*bytes));
            self.index_bytes.get_or_create(&labels).set(number(*index_bytes));
            self.rows.get_or_create(&labels).set(*rows);
        }
    }

    pub(super) fn set_process(&self, pools: &[PoolState], loops: &[LoopState]) {
        for PoolState { name: pool, in_use, idle, most } in pools {
            for (state, connections) in [("in_use", in_use), ("idle", idle)] {
                self.connections.get_or_create(&ConnectionLabels { pool, state }).set(number(*connections));
            }
            self.most_connections.get_or_create(&PoolLabels { pool }).set(number(*most));
        }
        for LoopState { name, silent_seconds, is_stalled } in loops {
            let labels = LoopLabels { name: name.clone() };
            self.loop_silence.get_or_create(&labels).set(*silent_seconds);
            self.loop_stalled.get_or_create(&labels).set(f64::from(u8::from(*is_stalled)));
        }
    }
}

fn family<L: super::labels::Labels>(registry: &mut Registry, name: &str, help: &str) -> Family<L, FloatGauge> {
    let family = Family::default();
    registry.register(name, help, family.clone());
    family
}

fn silence(registry: &mut Registry) -> Family<LoopLabels, FloatGauge> {
    let (name, help) = ("background_loop_silence", "Time since a loop has moved");
    let family = Family::default();
    registry.register_with_unit(name, help, Unit::Seconds, family.clone());
    family
}

/// A count as a gauge shows it.
#[expect(clippy::cast_precision_loss, reason = "beyond 2^53 nobody counts the last one")]
const fn number(count: u64) -> f64 {
    count as f64
}
