//! How the database of a URL is reached: over a network only with TLS and a checked certificate, unless the URL says
//! otherwise.

use std::net::IpAddr;

use secrecy::{ExposeSecret, SecretString};
use sqlx::postgres::{PgConnectOptions, PgSslMode};
use url::Url;

/// Reads the URL of a database. Without `sslmode` a server on another machine must prove its name (`verify-full`).
///
/// # Errors
/// If it is no URL of a Postgres database; the error does not show it.
pub(crate) fn connect_options(url: &SecretString) -> Result<PgConnectOptions, sqlx::Error> {
    // The library reads the URL of any database as one of Postgres.
    if url.expose_secret().parse::<Url>().is_ok_and(|url| !matches!(url.scheme(), "postgres" | "postgresql")) {
        return Err(sqlx::Error::Configuration("its scheme must be postgres:// or postgresql://".into()));
    }
    let options: PgConnectOptions = url.expose_secret().parse()?;
    // The library's own default is `prefer`; anything else comes from PGSSLMODE.
    let is_chosen = says_ssl_mode(url.expose_secret()) || !matches!(options.get_ssl_mode(), PgSslMode::Prefer);
    Ok(if is_chosen || is_here(&options) { options } else { options.ssl_mode(PgSslMode::VerifyFull) })
}

/// Whether statements and rows would pass a network on which nobody's name is checked.
pub(in crate::store) fn is_unverified(options: &PgConnectOptions) -> bool {
    !is_here(options) && !matches!(options.get_ssl_mode(), PgSslMode::VerifyCa | PgSslMode::VerifyFull)
}

fn says_ssl_mode(url: &str) -> bool {
    let url = url.parse::<Url>();
    url.is_ok_and(|url| url.query_pairs().any(|(name, _)| matches!(name.as_ref(), "sslmode" | "ssl-mode")))
}

/// Whether the server is on this machine: reached by a socket or a loopback address.
fn is_here(options: &PgConnectOptions) -> bool {
    let host = options.get_host();
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    options.get_socket().is_some()
        || host.starts_with('/')
        || host == "localhost"
        || address.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(url: &str) -> (String, bool) {
        let options = connect_options(&SecretString::from(url)).expect("a URL");
        (format!("{:?}", options.get_ssl_mode()), is_unverified(&options))
    }

    #[test]
    fn servers_elsewhere_prove_their_name_unless_the_url_says_otherwise() {
        for here in ["localhost", "127.0.0.1:5432", "[::1]", "%2Fvar%2Frun"] {
            assert_eq!(mode(&format!("postgres://u:p@{here}/d")), ("Prefer".to_owned(), false), "{here}");
        }
        for elsewhere in ["db.example", "10.0.0.7:5432", "[fd00::1]", "database", "localhost.example"] {
            let url = format!("postgres://u:p@{elsewhere}/d");
            assert_eq!(mode(&url), ("VerifyFull".to_owned(), false), "{elsewhere}");
            for (said, unverified) in
                [("disable", true), ("prefer", true), ("require", true), ("verify-ca", false), ("verify-full", false)]
            {
                assert_eq!(mode(&format!("{url}?sslmode={said}")).1, unverified, "{elsewhere} {said}");
            }
            assert_eq!(mode(&format!("{url}?sslmode=disable")).0, "Disable");
        }
    }
}
