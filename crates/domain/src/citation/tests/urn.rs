use proptest::prelude::*;

use crate::citation::{Urn, UrnError};

#[test]
fn reads_and_writes() {
    let urn = Urn::new("handbook", "leave", 2, 3).unwrap();
    assert_eq!(urn.to_string(), "cited:handbook/leave@2#3");
    assert_eq!("cited:handbook/leave@2#3".parse(), Ok(urn.clone()));
    assert_eq!(serde_json::to_string(&urn).unwrap(), "\"cited:handbook/leave@2#3\"");
    let escaped = Urn::new("a/b@c#d", "é %", 1, 0).unwrap();
    assert_eq!(escaped.to_string(), "cited:a%2Fb%40c%23d/%C3%A9%20%25@1#0");
}

#[test]
fn several_chunks_have_one_name() {
    let urn = Urn::spanning("handbook", "leave", 2, 3..=5).unwrap();
    assert_eq!((urn.to_string().as_str(), urn.chunk(), urn.chunks()), ("cited:handbook/leave@2#3-5", 3, 3..=5));
    assert_eq!("cited:handbook/leave@2#3-5".parse(), Ok(urn));
    assert_eq!(Urn::spanning("a", "b", 1, 3..=3), Urn::new("a", "b", 1, 3));
    #[expect(clippy::reversed_empty_ranges, reason = "that is what is refused")]
    let none = 4..=3;
    assert_eq!(Urn::spanning("a", "b", 1, none), Err(UrnError::Chunk));
}

#[test]
fn refuses_what_is_none() {
    let cases = [
        ("", UrnError::Scheme),
        ("urn:a/b@1#0", UrnError::Scheme),
        ("cited:a", UrnError::Shape),
        ("cited:a/b@1", UrnError::Shape),
        ("cited:a/b/c@1#0", UrnError::Shape),
        ("cited:a b/c@1#0", UrnError::Shape),
        ("cited:/b@1#0", UrnError::Empty),
        ("cited:a/@1#0", UrnError::Empty),
        ("cited:a%/b@1#0", UrnError::Encoding),
        ("cited:a%f/b@1#0", UrnError::Encoding),
        ("cited:a%FF/b@1#0", UrnError::Encoding),
        ("cited:a/b@0#0", UrnError::Version),
        ("cited:a/b@+1#0", UrnError::Version),
        ("cited:a/b@01#0", UrnError::Version),
        ("cited:a/b@#0", UrnError::Version),
        ("cited:a/b@1#", UrnError::Chunk),
        ("cited:a/b@1#4294967296", UrnError::Chunk),
        ("cited:a/b@1#0#0", UrnError::Chunk),
        ("cited:a/b@1#4-3", UrnError::Chunk),
        ("cited:a/b@1#3-3", UrnError::Chunk),
        ("cited:a/b@1#3-", UrnError::Chunk),
        ("cited:a/b@1#03-4", UrnError::Chunk),
        ("cited:a/b@1#3-4-5", UrnError::Chunk),
    ];
    for (text, error) in cases {
        assert_eq!(text.parse::<Urn>(), Err(error), "{text:?}");
    }
    assert_eq!(Urn::new("a", "b", 0, 0), Err(UrnError::Version));
    assert_eq!(Urn::new("", "b", 1, 0), Err(UrnError::Empty));
}

proptest! {
    #[test]
    fn round_trips(
        collection in any::<String>().prop_filter("not empty", |name| !name.is_empty()),
        document in any::<String>().prop_filter("not empty", |name| !name.is_empty()),
        version in 1..=u32::MAX,
        chunk in any::<u32>(),
        more in 0..3u32,
    ) {
        let chunks = chunk..=chunk.saturating_add(more);
        let urn = Urn::spanning(collection, document, version, chunks).unwrap();
        let text = urn.to_string();
        prop_assert!(text.is_ascii() && !text.contains(char::is_whitespace));
        prop_assert_eq!(text.parse(), Ok(urn));
    }

    #[test]
    fn any_text_is_read_or_refused(text in "cited:[a%/@#0-9é-]{0,20}|\\PC*") {
        if let Ok(urn) = text.parse::<Urn>() {
            prop_assert_eq!(urn.to_string().parse(), Ok(urn));
        }
    }
}

#[test]
fn pages_of_the_web_have_names_of_their_own() {
    let urn = Urn::web("https://mars.example/moons?a=1#top", &[0xab; 32]);
    assert_eq!(urn.to_string(), "cited-web:https%3A%2F%2Fmars.example%2Fmoons%3Fa%3D1%23top#abababababababab");
    assert_eq!(urn.to_string().parse(), Ok(urn.clone()));
    assert_eq!(urn.web_url(), Some("https://mars.example/moons?a=1#top"));
    assert_eq!(Urn::new("handbook", "leave", 2, 3).unwrap().web_url(), None);
    for broken in
        ["cited-web:", "cited-web:x", "cited-web:#abababababababab", "cited-web:x#abc", "cited-web:x#ABABABABABABABAB"]
    {
        assert_eq!(broken.parse::<Urn>(), Err(UrnError::WebShape), "{broken}");
    }
}
