//! How the pools log in: as roles that may do the service's work and nothing else. Their passwords are derived from that
//! of the owner, so that all processes of a database agree and nobody has to keep another secret.

use std::time::Duration;

use ring::hmac;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Executor, PgConnection, postgres::PgConnectOptions};

use crate::{
    domain::fingerprint::hex,
    store::{StoreError, error::sqlstate, scram},
};

/// Times that a role which was just let in is tried, with pauses: a replica learns of it a little later.
const TRIES: usize = 20;
const PAUSE: Duration = Duration::from_millis(100);

/// A role that pooled connections work as. Row level security applies to both.
#[derive(Clone, Copy, Debug)]
pub(super) enum RuntimeRole {
    /// Serves requests: sees the rows of one tenant in each transaction.
    Requests,
    /// Serves the queue: sees the rows of every tenant there, and what is forgotten by age.
    Queue,
}

/// The way into the database for the connections of a pool.
#[derive(Clone)]
pub(super) struct Login {
    /// Server and user.
    pub(super) options: PgConnectOptions,
    /// The role to take over, where the user is not the role itself.
    pub(super) set_role: Option<RuntimeRole>,
}

impl Login {
    /// The same at a replica, whose roles are those of its primary.
    pub(super) fn at(&self, owner: &PgConnectOptions, replica: &PgConnectOptions) -> Self {
        let options = match self.set_role {
            Some(_) => replica.clone(),
            None => RuntimeRole::Requests.by_name(owner, replica),
        };
        Self { options, set_role: self.set_role }
    }

    /// Refuses to take a role over where sessions are a pooler's, which gives each transaction another one.
    pub(super) fn by_itself(self) -> Result<Self, StoreError> {
        let Some(role) = self.set_role else { return Ok(self) };
        Err(StoreError::Unsuitable(format!(
            "the pooler does not let {} in, and a role that is taken over by SET ROLE is another transaction's too; have \
             PgBouncer look users up in the database (auth_query), or list cited_app and cited_worker in its auth_file",
            role.name()
        )))
    }
}

impl RuntimeRole {
    /// Its name in the database.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Requests => "cited_app",
            Self::Queue => "cited_worker",
        }
    }

    /// The statement that takes it over until the transaction ends.
    pub(super) const fn taken_over(self) -> &'static str {
        match self {
            Self::Requests => "SET LOCAL ROLE cited_app",
            Self::Queue => "SET LOCAL ROLE cited_worker",
        }
    }

    /// Logs in at a server as the role itself, and lets it in first if the owner may do so. Where neither works, such as
    /// with an owner who may not change roles, the user of `server` logs in and takes the role over.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(super) async fn login(self, owner: &PgConnectOptions, server: &PgConnectOptions) -> Result<Login, StoreError> {
        let password = self.password(owner);
        let options = self.by_name(owner, server);
        if opens(&options).await? {
            return Ok(Login { options, set_role: None });
        }
        if self.let_in(owner, password.as_deref()).await? {
            for _ in 0..TRIES {
                if opens(&options).await? {
                    return Ok(Login { options, set_role: None });
                }
                tokio::time::sleep(PAUSE).await;
            }
        }
        Ok(Login { options: server.clone(), set_role: Some(self) })
    }

    /// Logs in at a server as the role itself.
    fn by_name(self, owner: &PgConnectOptions, server: &PgConnectOptions) -> PgConnectOptions {
        let password = self.password(owner);
        server.clone().username(self.name()).password(password.as_deref().unwrap_or_default())
    }

    /// The role's password; `None` if the owner has none, from which everybody could derive the same.
    fn password(self, owner: &PgConnectOptions) -> Option<String> {
        let url = owner.to_url_lossy();
        let secret = url.password().filter(|secret| !secret.is_empty())?;
        let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
        Some(hex(hmac::sign(&key, self.name().as_bytes()).as_ref()))
    }

    /// The statement that lets the role log in. It has a verifier in the place of the password, since servers log statements
    /// that change roles (`log_statement`), or that fail.
    fn admission(self, password: Option<&str>) -> Result<String, StoreError> {
        // Neither a role's name nor a verifier, of base64 and its separators, can carry SQL.
        let secret = match password {
            Some(password) => format!("'{}'", scram::verifier(password)?),
            None => "NULL".to_owned(),
        };
        Ok(format!("ALTER ROLE {} LOGIN PASSWORD {secret}", self.name()))
    }

    /// Lets the role log in with this password, or, without one, in ways that need none; returns whether the owner may do
    /// so.
    async fn let_in(self, owner: &PgConnectOptions, password: Option<&str>) -> Result<bool, StoreError> {
        let statement = self.admission(password)?;
        let mut connection = PgConnection::connect_with(owner).await?;
        let altered = connection.execute(AssertSqlSafe(statement)).await;
        connection.close().await?;
        match altered {
            Ok(_) => Ok(true),
            Err(error) => match sqlstate(&error).as_deref() {
                Some("42501") => Ok(false),
                // Another process did the same at this moment.
                Some("XX000") => Ok(true),
                _ => Err(error.into()),
            },
        }
    }
}

/// Whether the server lets this user in.
async fn opens(options: &PgConnectOptions) -> Result<bool, StoreError> {
    match PgConnection::connect_with(options).await {
        Ok(connection) => {
            connection.close().await?;
            Ok(true)
        }
        // Class 28 of SQLSTATE: invalid authorization.
        Err(error) if sqlstate(&error).is_some_and(|code| code.starts_with("28")) || is_unknown_to_pooler(&error) => {
            Ok(false)
        }
        Err(error) => Err(error.into()),
    }
}

/// Whether `PgBouncer` does not know the user, such as a role that may not log in yet: it has one code for all refusals.
fn is_unknown_to_pooler(error: &sqlx::Error) -> bool {
    error.as_database_error().is_some_and(|error| error.message() == "no such user")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_role_has_a_password_of_its_own_and_none_where_the_owner_has_none() {
        let password = |role: RuntimeRole, url: &str| role.password(&url.parse().expect("a URL"));
        let (first, second) = ("postgres://o:one@localhost/d", "postgres://o:two@localhost/d");
        let requests = password(RuntimeRole::Requests, first).expect("a password");
        assert_eq!((requests.len(), requests.contains("one")), (64, false));
        assert_eq!(password(RuntimeRole::Requests, first).as_ref(), Some(&requests));
        assert_ne!(password(RuntimeRole::Queue, first).as_ref(), Some(&requests));
        assert_ne!(password(RuntimeRole::Requests, second).as_ref(), Some(&requests));
        assert_eq!(password(RuntimeRole::Requests, "postgres://o:@localhost/d"), None);
    }

    #[test]
    fn no_password_stands_in_a_statement() {
        let owner = "postgres://o:one@localhost/d".parse().expect("a URL");
        for role in [RuntimeRole::Requests, RuntimeRole::Queue] {
            let password = role.password(&owner).expect("a password");
            let statement = role.admission(Some(&password)).expect("random bytes");
            assert!(statement.contains("LOGIN PASSWORD 'SCRAM-SHA-256$4096:"), "{statement}");
            assert!(!statement.contains(&password), "{statement}");
        }
        let open = RuntimeRole::Queue.admission(None).expect("no random bytes are needed");
        assert_eq!(open, "ALTER ROLE cited_worker LOGIN PASSWORD NULL");
    }
}
