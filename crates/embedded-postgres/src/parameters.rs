//! The server parameters of the private Postgres, each with its reason. They are given on the
//! command line, not written into `postgresql.conf`, so that a new release of the service changes
//! them for old data directories as well.

use super::{Durability, data_dir::SOCKET_PORT, memory::shared_buffers};

/// Most connections at once: above what the pools of one service use. A connection costs little when idle.
pub const MAX_CONNECTIONS: u32 = 100;

/// All parameters, as `name=value`.
pub(super) fn parameters(socket_dir: &str, durability: Durability) -> Vec<String> {
    let mut parameters = vec![
        // Unix socket only: nothing on the network, and the file system says who may connect. The
        // value is a list; quoting keeps a comma in the path from splitting it.
        "listen_addresses=".to_owned(),
        format!("unix_socket_directories=\"{}\"", socket_dir.replace('"', "\"\"")),
        "unix_socket_permissions=0700".to_owned(),
        format!("port={SOCKET_PORT}"),
        // Shown by `ps`, so that an operator sees whose Postgres this is.
        "cluster_name=cited".to_owned(),
        format!("max_connections={MAX_CONNECTIONS}"),
        // A page that is not here costs a system call and a copy. With 256 MB a search of a million
        // chunks, which reads thousands of pages, took twice as long.
        format!("shared_buffers={}", shared_buffers()),
        // Vector index builds are several times faster when the graph fits here.
        "maintenance_work_mem=128MB".to_owned(),
        // A lexical search reads some thousand pages, which the operating system's cache holds. Handing each to a worker
        // that reads it ahead, as Postgres does by default, takes three times as long as reading it.
        "effective_io_concurrency=0".to_owned(),
        // A parallel index build takes its shared memory at once. Containers give /dev/shm 64 MB,
        // where that would fail; memory set apart at the start comes from elsewhere and costs
        // nothing until it is touched.
        "min_dynamic_shared_memory=160MB".to_owned(),
        // Compiling costs more than it saves on the short queries of this service.
        "jit=off".to_owned(),
        // No replicas and no log shipping, so the least log will do. Bulk loads write half as much.
        "wal_level=minimal".to_owned(),
        "max_wal_senders=0".to_owned(),
        // A failing statement may carry the text of a document. It must not reach the log.
        "log_min_error_statement=panic".to_owned(),
        // A line per checkpoint would be most of the log of an idle service.
        "log_checkpoints=off".to_owned(),
        "log_timezone=UTC".to_owned(),
        "timezone=UTC".to_owned(),
    ];
    match durability {
        Durability::Full => {}
        // Commits still reach the operating system, so that killing Postgres loses nothing.
        Durability::None => {
            parameters.extend(["fsync=off", "full_page_writes=off"].map(str::to_owned));
        }
    }
    parameters
}
