//! How the roles of the service log in at a server that asks for passwords, and that logs what changes roles.

use std::fs;

use domain::fingerprint::hex;
use sqlx::{ConnectOptions, Connection};

use super::{
    own_servers::Server,
    private_postgres::{folder, settings},
};
use crate::harness::TestApp;

/// Of letters alone: the passwords of the roles are derived from its form in a URL.
const PASSWORD: &str = "ThePasswordOfTheOwner";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn roles_log_in_by_passwords_that_no_statement_holds() {
    let folder = folder();
    let bin = embedded_postgres::find_binaries(&settings(folder.path())).expect("a Postgres").directory;
    let mut server = Server::on_loopback(&bin, folder.path(), "server", &["log_statement=all"]);
    server.make().await;
    server.says("CREATE DATABASE cited").await;
    server.says(&format!("ALTER ROLE postgres PASSWORD '{PASSWORD}'")).await;
    let rules = "local all all scram-sha-256\nhost all all all scram-sha-256\n";
    fs::write(server.place.join("data/pg_hba.conf"), rules).expect("written");
    server.says("SELECT pg_reload_conf()").await;

    let owner = server.options("cited").password(PASSWORD);
    let app = TestApp::start(owner.clone(), &[]).await;
    app.ingest("c", &[("a.md", "Boats land here.")]).await;
    for role in ["cited_app", "cited_worker"] {
        let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, PASSWORD.as_bytes());
        let password = hex(ring::hmac::sign(&key, role.as_bytes()).as_ref());
        let login = owner.clone().username(role);
        login.clone().password(&password).connect().await.expect("the role logs in").close().await.expect("closed");
        assert!(login.password("another-password").connect().await.is_err(), "no other password opens");
        let log = fs::read_to_string(server.log()).expect("a log");
        assert!(log.contains(&format!("ALTER ROLE {role} LOGIN PASSWORD 'SCRAM-SHA-256$")), "it is logged");
        assert!(!log.contains(&password), "without the password");
    }
    app.end().await;
}
