//! One private Postgres for all tests of this binary, or one cluster of them, in a folder that vanishes with the process.

use std::{
    fs::{self, Permissions},
    future,
    os::unix::{fs::PermissionsExt, process::CommandExt},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{Arc, LazyLock, mpsc},
    thread,
};

use sqlx::{ConnectOptions, postgres::PgConnectOptions};

use crate::{
    citus::{self, Cluster},
    operations::{own_servers::Server, private_postgres::settings},
};
use embedded_postgres::PrivatePostgres;

/// Waits for the end of its input, which is the end of the tests however they end, then stops
/// Postgres and removes the folder.
///
/// Nothing inside the process can do this: statics are not dropped, and a killed process runs
/// nothing at all.
const SWEEPER: &str = r#"
while read -r _; do :; done
for file in "$1/data/cluster/postmaster.pid" "$1"/*/data/postmaster.pid; do
    pid=$(head -n 1 "$file" 2>/dev/null) &&
        kill -QUIT "$pid" && while kill -0 "$pid"; do sleep 0.05; done
done
rm -rf "$1"
"#;

struct ThrowAway {
    connect_options: PgConnectOptions,
    logs: Vec<PathBuf>,
    cluster: Option<Arc<Cluster>>,
    /// Holds the input that the sweeper waits on.
    _sweeper: Child,
}

static THROW_AWAY: LazyLock<ThrowAway> = LazyLock::new(|| {
    let folder = tempfile::Builder::new().prefix("cited-tests-").tempdir().unwrap().keep();
    fs::set_permissions(&folder, Permissions::from_mode(0o755)).unwrap();
    let sweeper = sweep_after_the_tests(&folder);
    let (sender, receiver) = mpsc::channel();
    // A runtime of its own: each test's runtime ends with that test.
    let of_postgres = folder.clone();
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        runtime.block_on(async {
            if citus::is_wanted() {
                let cluster = Cluster::start(&of_postgres, citus::DATA_NODES).await;
                let logs = cluster.servers().map(Server::log).collect();
                sender.send((cluster.options("postgres"), logs, Some(Arc::new(cluster)))).unwrap();
                future::pending::<()>().await;
            }
            let postgres = PrivatePostgres::start(&settings(&of_postgres)).await.unwrap();
            sender.send((postgres.connect_options(), vec![of_postgres.join("data/postgres.log")], None)).unwrap();
            panic!("{}", postgres.failed().await);
        });
    });
    let (connect_options, logs, cluster) = receiver.recv().expect("Postgres starts; its error is above");
    ThrowAway { connect_options, logs, cluster, _sweeper: sweeper }
});

fn sweep_after_the_tests(folder: &Path) -> Child {
    Command::new("/bin/sh")
        .args(["-c", SWEEPER, "sweeper"])
        .arg(folder)
        .stdin(Stdio::piped())
        // A pipe that the tests' output goes to must close with the tests.
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .unwrap()
}

/// How to connect to the shared server, as its superuser. Starts it when first called; blocks
/// meanwhile.
pub(crate) fn connect_options() -> PgConnectOptions {
    // The log is that of the services, which is searched for what tests write themselves.
    THROW_AWAY.connect_options.clone().disable_statement_logging()
}

/// All that the shared server, or each of them, has logged so far.
pub(crate) fn log() -> String {
    THROW_AWAY.logs.iter().map(|log| String::from_utf8_lossy(&fs::read(log).unwrap()).into_owned()).collect()
}

/// The cluster, where tests run on one. Starts it when first called; blocks meanwhile.
pub(crate) fn cluster() -> Option<Arc<Cluster>> {
    THROW_AWAY.cluster.clone()
}

#[tokio::test]
async fn the_shared_server_serves_tests_with_runtimes_of_their_own() {
    for _ in 0..2 {
        let options = tokio::task::spawn_blocking(connect_options).await.unwrap();
        assert_eq!(crate::operations::private_postgres::number(&options, "SELECT 1").await, 1);
    }
}
