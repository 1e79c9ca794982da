//! The schema split up by tenants over several database servers, by the Citus extension: made, and looked at. All tables are
//! declared once, in the migrations; here stands where each of them belongs.

mod balance;
mod examination;
mod functions;
mod init;
mod layout;
mod promotion;
mod status;

pub(crate) use balance::Move;
pub(in crate::store) use examination::examine;
pub(crate) use init::{Split, Step};
pub(in crate::store) use init::{complete, is_split};
pub(crate) use promotion::{Address, Promotion};
pub(crate) use status::{ClusterStatus, Standbys};

use sqlx::{Connection, Executor, PgConnection, Row, postgres::PgConnectOptions};

use crate::store::{StoreError, login::RuntimeRole, schema_version::SchemaVersion};

/// First version of Citus with all that is needed; the tests run with 15.
const MINIMUM_CITUS: u32 = 13;

/// The coordinator of a cluster, as the owner of the tables.
#[derive(Debug)]
pub(crate) struct Coordinator {
    connection: PgConnection,
    owner: PgConnectOptions,
}

impl Coordinator {
    /// Connects to a coordinator whose schema is that of this build.
    ///
    /// # Errors
    /// [`StoreError::Unsuitable`] when the extension, the schema or a node is missing, or the server is no coordinator.
    pub(crate) async fn connect(owner: &PgConnectOptions) -> Result<Self, StoreError> {
        let mut connection = PgConnection::connect_with(owner).await?;
        connection.execute("SET client_min_messages = error").await?;
        check_extension(&mut connection).await?;
        check_place(&mut connection).await?;
        check_schema(&mut connection).await?;
        Ok(Self { connection, owner: owner.clone() })
    }

    /// Lets the role that serves requests in at every node, as which sizes are read.
    async fn let_runtime_role_in(&self) -> Result<(), StoreError> {
        RuntimeRole::Requests.login(&self.owner, &self.owner).await?;
        Ok(())
    }
}

fn unsuitable(message: impl Into<String>) -> StoreError {
    StoreError::Unsuitable(message.into())
}

async fn check_extension(connection: &mut PgConnection) -> Result<(), StoreError> {
    let version: Option<String> = sqlx::query_scalar("SELECT extversion FROM pg_extension WHERE extname = 'citus'")
        .fetch_optional(connection)
        .await?;
    let Some(version) = version else {
        return Err(unsuitable(
            "this database has no Citus: put citus first into shared_preload_libraries of each server, start them again, and \
             run CREATE EXTENSION citus in the database of the same name on each of them",
        ));
    };
    let major = version.split(['.', '-']).next().and_then(|number| number.parse::<u32>().ok()).unwrap_or(0);
    if major < MINIMUM_CITUS {
        return Err(unsuitable(format!("Citus {version} is too old; Cited needs {MINIMUM_CITUS} or newer")));
    }
    Ok(())
}

/// Refuses a server that is no coordinator, and a coordinator without a node that could hold rows.
async fn check_place(connection: &mut PgConnection) -> Result<(), StoreError> {
    let row = sqlx::query(
        "SELECT (SELECT groupid FROM pg_dist_local_group) AS group_id,
                EXISTS (SELECT FROM pg_dist_node WHERE groupid = 0) AS is_known,
                (SELECT count(*) FROM pg_dist_node WHERE noderole = 'primary' AND isactive AND shouldhaveshards) AS nodes",
    )
    .fetch_one(connection)
    .await?;
    if row.try_get::<i32, _>("group_id")? != 0 {
        return Err(unsuitable("this server is a worker of a cluster; let DATABASE_URL name its coordinator"));
    }
    if !row.try_get::<bool, _>("is_known")? || row.try_get::<i64, _>("nodes")? == 0 {
        return Err(unsuitable(
            "the cluster has no node that rows could be on, or does not know its coordinator: run SELECT citus_set_coordinator_host('HOST', PORT) and SELECT \
             citus_add_node('HOST', PORT) for each server at the coordinator",
        ));
    }
    Ok(())
}

async fn check_schema(connection: &mut PgConnection) -> Result<(), StoreError> {
    match SchemaVersion::of(connection).await? {
        SchemaVersion::Behind(0) => Ok(()),
        SchemaVersion::Behind(_) => {
            Err(unsuitable("the schema is not there, or not that of this release; run cited migrate first"))
        }
        other => other.refuse(),
    }
}
