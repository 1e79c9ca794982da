//! Postgres servers that are one database, split up by tenants. `CITED_TEST_CITUS` names the folder of a Postgres with Citus
//! and pgvector, the one with `bin` in it. With `CITED_TEST_ON_CLUSTER` all tests run on such servers (`make cluster-test`).

use std::path::{Path, PathBuf};

use sqlx::{
    error::DatabaseError,
    postgres::{PgConnectOptions, PgSslMode},
};

use crate::{
    database,
    operations::own_servers::{self, Server},
};

/// Servers with rows of tenants on which all tests run.
pub(crate) const DATA_NODES: usize = 3;

/// Settings of each server.
const SETTINGS: [&str; 7] = [
    "shared_preload_libraries=citus",
    "wal_level=logical",
    "max_prepared_transactions=300",
    "max_connections=300",
    // A commit that does not wait for the disk is not written behind its back before a crash.
    "wal_writer_delay=10s",
    // Commits that a crash leaves half done are finished soon.
    "citus.recover_2pc_interval=2000",
    // Errors are told apart by their SQLSTATE.
    "log_line_prefix=%m [%p] %e ",
];

/// A coordinator and data nodes. They end with the value.
pub(crate) struct Cluster {
    pub coordinator: Server,
    pub nodes: Vec<Server>,
}

/// The programs of a Postgres with Citus, if one is named.
pub(crate) fn bin() -> Option<PathBuf> {
    Some(PathBuf::from(std::env::var_os("CITED_TEST_CITUS")?).join("bin"))
}

/// Whether all tests run on a cluster.
pub(crate) fn is_wanted() -> bool {
    std::env::var_os("CITED_TEST_ON_CLUSTER").is_some()
}

/// Puts copies of all rows of all nodes in the way of a session, for statements of tests that compare rows of all tenants.
pub(crate) const ROWS_OF_ALL_NODES: &str = "DO $$ DECLARE one text; BEGIN
    FOR one IN SELECT relname FROM pg_dist_partition JOIN pg_class ON oid = logicalrelid LOOP
        EXECUTE format('CREATE TEMPORARY TABLE %I AS SELECT * FROM %I', one, one);
    END LOOP; END $$";

/// Whether a statement may be one that Citus does not do. It says so by several errors.
pub(crate) fn is_beyond_it(error: &sqlx::Error) -> bool {
    bin().is_some() && error.as_database_error().is_some()
}

/// Whether a statement was given up for others of a cluster to go on.
pub(crate) fn is_deadlock(error: &sqlx::Error) -> bool {
    is_wanted() && error.as_database_error().and_then(DatabaseError::code).is_some_and(|code| code == "40P01")
}

impl Cluster {
    /// Starts empty servers below a folder.
    pub(crate) async fn start(folder: &Path, nodes: usize) -> Self {
        let bin = bin().expect("CITED_TEST_CITUS names the folder of a Postgres with Citus");
        let make = async |name: &str| {
            let mut server = Server::on_loopback(&bin, folder, name, &SETTINGS);
            server.make().await;
            server
        };
        let coordinator = make("coordinator").await;
        let mut servers = Vec::with_capacity(nodes);
        for number in 1..=nodes {
            servers.push(make(&format!("node{number}")).await);
        }
        Self { coordinator, nodes: servers }
    }

    pub(crate) fn servers(&self) -> impl Iterator<Item = &Server> {
        std::iter::once(&self.coordinator).chain(&self.nodes)
    }

    /// How services reach a database by the coordinator.
    pub(crate) fn options(&self, database: &str) -> PgConnectOptions {
        PgConnectOptions::new_without_pgpass()
            .host("127.0.0.1")
            .port(self.coordinator.port())
            .username("postgres")
            .database(database)
            .ssl_mode(PgSslMode::Disable)
    }

    /// An empty database of all servers, which know each other; the nodes are reached at these ports.
    pub(crate) async fn create(&self, database: &str, ports: &[u16]) {
        for server in self.servers() {
            server.says(&format!("CREATE DATABASE {database}")).await;
            database::execute(&server.options(database), "CREATE EXTENSION citus").await;
        }
        let coordinator = self.coordinator.options(database);
        let port = self.coordinator.port();
        database::execute(&coordinator, &format!("SELECT citus_set_coordinator_host('127.0.0.1', {port})")).await;
        for port in ports {
            database::execute(&coordinator, &format!("SELECT citus_add_node('127.0.0.1', {port})")).await;
        }
    }

    /// Lets nobody use a database any more, so that it can be copied: on each server there is a process of Citus for each
    /// database that is used, and Postgres copies none that is.
    pub(crate) async fn close(&self, template: &str) {
        for server in self.servers() {
            server.says(&format!("ALTER DATABASE {template} ALLOW_CONNECTIONS false")).await;
            let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname =";
            server.says(&format!("{end} '{template}'")).await;
        }
    }

    /// A copy of a database that is [closed](Self::close).
    pub(crate) async fn copy(&self, template: &str, name: &str) {
        let copies = self.servers().map(async |server| {
            for sql in [
                format!("CREATE DATABASE {name} TEMPLATE {template}"),
                // Settings of a database are not copied.
                format!("ALTER DATABASE {name} SET log_error_verbosity = 'terse'"),
                format!("ALTER DATABASE {name} SET citus.propagate_set_commands = 'local'"),
                format!("ALTER DATABASE {name} SET citus.enable_unsafe_triggers = on"),
            ] {
                server.says(&sql).await;
            }
        });
        futures::future::join_all(copies).await;
    }

    /// Removes a database from all servers, with all that use it.
    pub(crate) async fn remove(&self, database: &str) {
        for server in self.servers() {
            server.says(&format!("DROP DATABASE IF EXISTS {database} WITH (FORCE)")).await;
        }
    }

    /// Ends all data nodes at the same moment, as a crash would, and starts them again.
    pub(crate) async fn crash_nodes(&mut self) {
        own_servers::crash(&mut self.nodes).await;
    }
}
