//! Examines a database server that the service would use, and suggests a remedy for each problem. Changes nothing.

use sqlx::{Connection, PgConnection, postgres::PgConnectOptions};

use crate::store::{
    MIGRATOR, StoreError, cluster, connect, connect_options::is_unverified, schema_version::SchemaVersion,
};

/// Roles that the service needs; the first is its runtime role.
const ROLES: [&str; 5] = ["cited_app", "cited_worker", "cited_lexical", "cited_keys", "cited_record"];

/// One checked property of the server.
#[derive(Clone, Debug)]
pub(crate) struct Finding {
    /// Name of the property.
    pub(crate) about: &'static str,
    /// Value that was found.
    pub(crate) found: String,
    /// Remedy, if there is something to be done about that value.
    pub(crate) remedy: Option<Remedy>,
}

/// A remedy, with its urgency.
#[derive(Clone, Debug)]
pub(crate) enum Remedy {
    /// The service cannot work before.
    Needed(String),
    /// The service works, not as well as it could.
    Advised(String),
}

impl Finding {
    pub(in crate::store) const fn good(about: &'static str, found: String) -> Self {
        Self { about, found, remedy: None }
    }

    pub(in crate::store) fn fault(about: &'static str, found: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { about, found: found.into(), remedy: Some(Remedy::Needed(remedy.into())) }
    }
}

/// Examines a server with the rights that the service would have.
///
/// # Errors
/// [`StoreError::Unavailable`] when it does not answer.
pub(crate) async fn examine(options: &PgConnectOptions) -> Result<Vec<Finding>, StoreError> {
    let mut connection = PgConnection::connect_with(options).await?;
    let mut findings = vec![
        way(options),
        server(&mut connection).await?,
        pgvector(&mut connection).await?,
        user(&mut connection).await?,
        runtime_role(&mut connection).await?,
        schema(&mut connection).await?,
        log(&mut connection).await?,
    ];
    findings.extend(cluster::examine(&mut connection).await?);
    connection.close().await?;
    Ok(findings)
}

/// How the server is reached. One without TLS may be right for a network that others cannot listen to, so it is no
/// fault.
fn way(options: &PgConnectOptions) -> Finding {
    let mode = format!("sslmode {:?}", options.get_ssl_mode());
    Finding::good(
        "connection",
        if is_unverified(options) {
            format!("{mode}, which does not check the server's name; sslmode=verify-full does")
        } else {
            mode
        },
    )
}

async fn server(connection: &mut PgConnection) -> Result<Finding, StoreError> {
    let row = sqlx::query!(
        r#"SELECT current_setting('server_version') AS "version!", current_setting('server_version_num')::int AS "number!""#
    )
    .fetch_one(connection)
    .await?;
    let found = format!("Postgres {}", row.version);
    Ok(if row.number < connect::MINIMUM_POSTGRES {
        Finding::fault("server", found, "upgrade it; Cited needs Postgres 16 or newer")
    } else {
        Finding::good("server", found)
    })
}

async fn pgvector(connection: &mut PgConnection) -> Result<Finding, StoreError> {
    const ABOUT: &str = "pgvector";
    let row = sqlx::query!(
        r#"SELECT (SELECT extversion FROM pg_extension WHERE extname = 'vector') AS installed,
                  (SELECT default_version FROM pg_available_extensions WHERE name = 'vector') AS available,
                  (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) OR EXISTS (
                      SELECT FROM pg_available_extension_versions v JOIN pg_available_extensions e
                          ON e.name = v.name AND e.default_version = v.version
                      WHERE e.name = 'vector' AND v.trusted AND has_database_privilege(current_database(), 'CREATE'))
                      AS "may_create!""#
    )
    .fetch_one(connection)
    .await?;
    Ok(match (row.installed, row.available) {
        (Some(version), _) if connect::is_old_pgvector(&version) => {
            Finding::fault(ABOUT, version, "install 0.8 or newer and run ALTER EXTENSION vector UPDATE")
        }
        (Some(version), _) => Finding::good(ABOUT, version),
        (None, None) => Finding::fault(ABOUT, "not on this server", "install pgvector 0.8 or newer there"),
        (None, Some(version)) if connect::is_old_pgvector(&version) => {
            Finding::fault(ABOUT, format!("{version}, not in this database"), "install 0.8 or newer on the server")
        }
        (None, Some(version)) if row.may_create => {
            Finding::good(ABOUT, format!("{version}, comes into this database with the first start"))
        }
        (None, Some(version)) => Finding::fault(
            ABOUT,
            format!("{version}, not in this database"),
            "run as an administrator, in this database: CREATE EXTENSION vector",
        ),
    })
}

async fn user(connection: &mut PgConnection) -> Result<Finding, StoreError> {
    const ABOUT: &str = "user";
    let row = sqlx::query!(
        r#"SELECT rolname::text AS "name!",
                  rolsuper OR rolcreaterole OR (SELECT count(*) FROM pg_roles WHERE rolname = ANY ($1)) = $2 AS "makes_roles!",
                  NOT EXISTS (SELECT FROM pg_roles r WHERE r.rolname = ANY ($1) AND NOT pg_has_role(current_user, r.oid, 'SET')
                      AND NOT pg_has_role(current_user, r.oid, 'MEMBER WITH ADMIN OPTION')) AS "takes_roles!",
                  has_database_privilege(current_database(), 'CREATE') AND has_schema_privilege('public', 'CREATE')
                      AS "may_migrate!"
           FROM pg_roles WHERE rolname = current_user"#,
        &ROLES.map(str::to_owned),
        i64::try_from(ROLES.len()).unwrap_or(i64::MAX),
    )
    .fetch_one(connection)
    .await?;
    let name = row.name;
    Ok(if !(row.makes_roles && row.takes_roles) {
        let found = format!("{name}, who may not act as {}, or not make these roles", ROLES.join(", "));
        Finding::fault(ABOUT, found, connect::ROLES_REMEDY)
    } else if row.may_migrate {
        Finding::good(ABOUT, name)
    } else {
        let remedy = format!("make it the owner of the database: ALTER DATABASE … OWNER TO {name}");
        Finding::fault(ABOUT, format!("{name}, who may not make tables"), remedy)
    })
}

async fn runtime_role(connection: &mut PgConnection) -> Result<Finding, StoreError> {
    const ABOUT: &str = "role";
    let [role, ..] = ROLES;
    let bypasses = sqlx::query_scalar!(
        r#"SELECT (rolsuper OR rolbypassrls) AS "bypasses!" FROM pg_roles WHERE rolname = $1"#,
        role
    )
    .fetch_optional(connection)
    .await?;
    Ok(match bypasses {
        None => Finding::good(ABOUT, format!("{role}, made with the first start")),
        Some(false) => Finding::good(ABOUT, format!("{role}, bound by row level security")),
        Some(true) => Finding::fault(
            ABOUT,
            format!("{role}, which can bypass row level security"),
            format!("run as an administrator: ALTER ROLE {role} NOSUPERUSER NOBYPASSRLS"),
        ),
    })
}

async fn schema(connection: &mut PgConnection) -> Result<Finding, StoreError> {
    const ABOUT: &str = "schema";
    let all = MIGRATOR.iter().count();
    Ok(match SchemaVersion::of(connection).await? {
        SchemaVersion::Newer(version) => {
            let found = format!("changed by a newer version of Cited (migration {version})");
            Finding::fault(ABOUT, found, "start that version")
        }
        SchemaVersion::Foreign(version) => {
            let found = format!("made by another build of Cited, one that was never released (migration {version})");
            Finding::fault(ABOUT, found, "start that build, or begin with an empty database and ingest anew")
        }
        SchemaVersion::Behind(0) => Finding::good(ABOUT, format!("up to date, {all} migrations")),
        SchemaVersion::Behind(missing) => {
            Finding::good(ABOUT, format!("{missing} of {all} migrations to come with the next start"))
        }
    })
}

/// Settings of the server that write the values of statements, among them the texts of documents, into its log.
const LOGGED_VALUES: &str = "SELECT current_setting('log_error_verbosity'), current_database()::text, (
    SELECT string_agg(format('%s = %s', name, setting), ', ' ORDER BY name) FROM pg_settings
    WHERE current_setting('log_parameter_max_length') <> '0' AND
            (name = 'log_statement' AND setting IN ('mod', 'all')
             OR name IN ('log_min_duration_statement', 'log_min_duration_sample') AND setting <> '-1'
             OR name = 'log_transaction_sample_rate' AND setting::float8 > 0)
        OR name = 'log_parameter_max_length_on_error' AND setting <> '0')";

/// Whether the log of the server may hold text of documents. Its readers may be allowed to see that, so it is no fault.
async fn log(connection: &mut PgConnection) -> Result<Finding, StoreError> {
    let (verbosity, database, values): (String, String, Option<String>) =
        sqlx::query_as(LOGGED_VALUES).fetch_one(connection).await?;
    let found = match (verbosity.as_str(), values) {
        ("terse", _) => "terse, without values of statements and rows".to_owned(),
        (_, None) => "details of errors may quote documents".to_owned(),
        (_, Some(settings)) => format!("holds the text of documents ({settings})"),
    };
    let remedy = format!("an administrator stops that: ALTER DATABASE {database} SET log_error_verbosity = 'terse'");
    Ok(Finding::good("log", if verbosity == "terse" { found } else { format!("{found}; {remedy}") }))
}
