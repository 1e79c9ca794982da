//! The limit of file descriptors, which connections are.

use nix::sys::resource::{Resource, getrlimit, setrlimit};

/// Raises the limit of this process to the most that it may have, and returns it. The usual limit of 1,024 is meant
/// for programs that use `select`.
pub(super) fn raise() -> usize {
    const LIMIT: Resource = Resource::RLIMIT_NOFILE;
    let Ok((soft, hard)) = getrlimit(LIMIT) else { return usize::MAX };
    let raised = match setrlimit(LIMIT, hard, hard) {
        Ok(()) => hard,
        Err(error) => {
            tracing::warn!(%error, limit = soft, "the limit of file descriptors could not be raised");
            soft
        }
    };
    usize::try_from(raised).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_raised_to_the_most_that_the_process_may_have() {
        let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE).expect("a limit");
        // High enough for the tests beside this one.
        setrlimit(Resource::RLIMIT_NOFILE, hard - 1, hard).expect("lowered");
        assert_eq!(u64::try_from(raise()).expect("a number"), hard);
        assert_eq!(getrlimit(Resource::RLIMIT_NOFILE).expect("a limit"), (hard, hard));
    }
}
