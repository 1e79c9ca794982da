//! Lets a standby take the place of a server that was lost. The standby is promoted first, which changes nothing for the others;
//! its address is then entered, and told to every server, in one transaction of the coordinator. A process that is killed
//! meanwhile leaves the address of before, and is repeated.

use std::{collections::BTreeMap, fmt, str::FromStr};

use sqlx::{Connection, PgConnection, Row};

use crate::store::{
    StoreError,
    cluster::{
        Coordinator,
        examination::{Answer, on_each_server},
        unsuitable,
    },
};

/// Seconds that a promotion may take: the standby replays all that it has received before.
const PROMOTION: i32 = 300;

/// Address of a server, as the servers of the cluster reach it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    host: String,
    port: u16,
}

impl FromStr for Address {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts = text.rsplit_once(':').filter(|(host, _)| !host.is_empty());
        let parts = parts.and_then(|(host, port)| Some(Self { host: host.to_owned(), port: port.parse().ok()? }));
        parts.ok_or("it must be HOST:PORT, as cited cluster status prints it")
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

/// Result of a promotion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Promotion {
    /// Every server knows the new one.
    Told,
    /// These servers do not answer; Citus tells all as soon as it reaches them.
    Untold(Vec<String>),
    /// The standby had the place already.
    Repeated,
}

/// A server as the coordinator knows it.
struct Node {
    id: i32,
    group: i32,
}

impl Coordinator {
    /// Promotes the standby of a server that does not answer, and gives it the place of that server.
    ///
    /// # Errors
    /// [`StoreError::Unsuitable`] when the lost server is unknown, answers, or is the coordinator, when the standby is none of
    /// it, or when the user may not do it. The places are as before then.
    pub(crate) async fn promote(&mut self, lost: &Address, standby: &Address) -> Result<Promotion, StoreError> {
        let Some(node) = node_at(&mut self.connection, lost).await? else {
            return match node_at(&mut self.connection, standby).await? {
                Some(_) => Ok(Promotion::Repeated),
                None => {
                    Err(unsuitable(format!("no server of the cluster is at {lost}; cited cluster status lists them")))
                }
            };
        };
        if node.group == 0 {
            return Err(unsuitable(
                "the coordinator is replaced as any Postgres is: promote its standby, and let its address lead to it",
            ));
        }
        let is_superuser: String =
            sqlx::query_scalar("SELECT current_setting('is_superuser')").fetch_one(&mut self.connection).await?;
        if is_superuser != "on" {
            return Err(unsuitable("only a superuser may change the servers of a cluster; let DATABASE_URL name one"));
        }
        let answers = on_each_server(&mut self.connection, "SELECT 1").await?;
        if answers.get(&lost.to_string()).is_some_and(|answer| answer.described.is_some()) {
            return Err(unsuitable(format!(
                "{lost} still answers, and would be written to beside its standby; stop it first, and see to it that it does \
                 not start again"
            )));
        }
        self.promote_standby(&node, lost, standby).await?;
        let silent = silent(&answers, lost);
        self.enter(&node, lost, standby, silent.is_empty()).await.map_err(|error| unentered(standby, error))?;
        Ok(if silent.is_empty() { Promotion::Told } else { Promotion::Untold(silent) })
    }

    /// Makes the standby a server that is written to, if it is not one yet.
    async fn promote_standby(&self, node: &Node, lost: &Address, standby: &Address) -> Result<(), StoreError> {
        if self.owner.get_socket().is_some() {
            return Err(unsuitable(
                "let DATABASE_URL name the coordinator by its host: standbys are reached in the same way",
            ));
        }
        let options = self.owner.clone().host(&standby.host).port(standby.port);
        let unreached = |error| unsuitable(format!("the standby {standby} cannot be used: {error}"));
        let mut connection = PgConnection::connect_with(&options).await.map_err(unreached)?;
        let row = sqlx::query(
            "SELECT pg_is_in_recovery() AS is_standby,
                    EXISTS (SELECT FROM pg_dist_local_group WHERE groupid = $1)
                    AND EXISTS (SELECT FROM pg_dist_node WHERE nodeid = $2 AND nodename = $3 AND nodeport = $4) AS is_copy",
        )
        .bind(node.group)
        .bind(node.id)
        .bind(&lost.host)
        .bind(i32::from(lost.port))
        .fetch_one(&mut connection)
        .await
        .map_err(unreached)?;
        if !row.try_get::<bool, _>("is_copy")? {
            return Err(unsuitable(format!("{standby} is no standby of {lost}: it has the rows of another server")));
        }
        if row.try_get::<bool, _>("is_standby")? {
            let promote = sqlx::query_scalar("SELECT pg_promote(true, $1)").bind(PROMOTION);
            if !promote.fetch_one(&mut connection).await.map_err(unreached)? {
                return Err(unsuitable(format!(
                    "{standby} was told to end its recovery and has not within {PROMOTION} s; run the command again"
                )));
            }
        }
        connection.close().await?;
        Ok(())
    }

    /// Gives the place to the standby, and tells the servers at once if all of them answer. `citus_update_node` alone changes the
    /// place at the coordinator only, and lets a process of Citus tell the others some time later; until then the coordinator
    /// sends no function to any of them. `citus_disable_node` tells all within its transaction, for which the lost server is
    /// known for a moment as a standby of the new one.
    async fn enter(&mut self, node: &Node, lost: &Address, standby: &Address, tell: bool) -> Result<(), sqlx::Error> {
        let mut transaction = self.connection.begin().await?;
        for setting in ["SET LOCAL statement_timeout = 0", "LOCK TABLE pg_dist_node IN EXCLUSIVE MODE"] {
            sqlx::query(setting).execute(&mut *transaction).await?;
        }
        sqlx::query("SELECT citus_update_node($1, $2, $3, force => true)")
            .bind(node.id)
            .bind(&standby.host)
            .bind(i32::from(standby.port))
            .execute(&mut *transaction)
            .await?;
        if tell {
            for setting in [
                "UPDATE pg_dist_node SET metadatasynced = true WHERE NOT metadatasynced",
                "SET LOCAL citus.enable_metadata_sync = off",
            ] {
                sqlx::query(setting).execute(&mut *transaction).await?;
            }
            let add = "SELECT citus_add_inactive_node($1, $2, groupid => $3, noderole => 'secondary')";
            sqlx::query(add)
                .bind(&lost.host)
                .bind(i32::from(lost.port))
                .bind(node.group)
                .execute(&mut *transaction)
                .await?;
            sqlx::query("SET LOCAL citus.enable_metadata_sync = on").execute(&mut *transaction).await?;
            for step in ["SELECT citus_disable_node($1, $2, synchronous => true)", "SELECT citus_remove_node($1, $2)"] {
                sqlx::query(step).bind(&lost.host).bind(i32::from(lost.port)).execute(&mut *transaction).await?;
            }
        }
        transaction.commit().await
    }
}

async fn node_at(connection: &mut PgConnection, address: &Address) -> Result<Option<Node>, StoreError> {
    let row = sqlx::query(
        "SELECT nodeid, groupid FROM pg_dist_node WHERE noderole = 'primary' AND nodename = $1 AND nodeport = $2",
    )
    .bind(&address.host)
    .bind(i32::from(address.port))
    .fetch_optional(connection)
    .await?;
    row.map(|row| Ok(Node { id: row.try_get("nodeid")?, group: row.try_get("groupid")? })).transpose()
}

/// The servers that do not answer, without the one that was lost.
fn silent(answers: &BTreeMap<String, Answer>, lost: &Address) -> Vec<String> {
    let lost = lost.to_string();
    let silent = answers.iter().filter(|(address, answer)| **address != lost && answer.described.is_none());
    silent.map(|(address, _)| address.clone()).collect()
}

/// An error after the promotion, in the words of the server.
fn unentered(standby: &Address, error: sqlx::Error) -> StoreError {
    match error.as_database_error().map(ToString::to_string) {
        Some(message) => {
            unsuitable(format!("{standby} is promoted and has not got the place yet: {message}; run the command again"))
        }
        None => error.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::Address;

    #[test]
    fn an_address_is_a_host_and_a_port() {
        let address = Address { host: "db.example".to_owned(), port: 5432 };
        assert_eq!("db.example:5432".parse(), Ok(address.clone()));
        assert_eq!(address.to_string(), "db.example:5432");
        for wrong in ["db.example", ":5432", "db.example:", "db.example:70000"] {
            assert!(wrong.parse::<Address>().is_err(), "{wrong}");
        }
    }
}
