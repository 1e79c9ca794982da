//! What is asked for by the keys of those who may not see it.

use anyhow::Context as _;
use hyper::Method;
use serde_json::{Value, json};
use uuid::Uuid;

use super::super::{Target, ask_in};
use crate::{client::Client, service::OPERATOR, single::UPLOAD};

/// Names and ids of things.
#[derive(Clone, Debug)]
pub(super) struct Named {
    pub(super) collection: String,
    /// The collection of the asker's own in which documents and indexes are looked for.
    pub(super) within: String,
    pub(super) document: String,
    pub(super) source: String,
    pub(super) job: String,
    pub(super) ask: String,
    pub(super) index: String,
    pub(super) erasure: String,
    pub(super) key: String,
}

/// Things that are hidden from a key in one way, and the names of nothing.
pub(super) struct Hidden {
    /// Whose or which they are.
    pub(super) from: &'static str,
    pub(super) key: String,
    /// Scopes of the key.
    pub(super) scopes: &'static [&'static str],
    pub(super) there: Named,
    pub(super) nothing: Named,
}

impl Named {
    /// The citation of the document's first passage, under the name of a collection that the asker has.
    pub(super) fn urn(&self) -> String {
        format!("cited:{}/{}@1#0", self.within, self.document)
    }

    /// Names of the same length, and ids as old, of what is not there.
    fn beside(&self) -> anyhow::Result<Self> {
        let id = |id: &str| anyhow::Ok(Uuid::from_u128(id.parse::<Uuid>()?.as_u128() ^ 1).to_string());
        let mut key = self.key.clone();
        key.replace_range(15.., if self.key.ends_with('0') { "1" } else { "0" });
        Ok(Self {
            collection: self.collection.replace("probed-1", "probed-2"),
            within: self.within.clone(),
            document: id(&self.document)?,
            source: self.source.replace("probed", "nobody"),
            job: id(&self.job)?,
            ask: id(&self.ask)?,
            index: id(&self.index)?,
            erasure: id(&self.erasure)?,
            key,
        })
    }
}

fn text(value: &Value, pointer: &str) -> anyhow::Result<String> {
    let found = value.pointer(pointer).and_then(Value::as_str);
    Ok(found.with_context(|| format!("{pointer} is missing in {value}"))?.to_owned())
}

/// Scopes of the key from which a list hides a document.
const OF_READER: &[&str] = &["ask", "ingest", "read"];

/// Makes what is asked for: a collection of one tenant that is hidden from a key of another and from a limited key of its own,
/// and a document that a list hides.
pub(super) async fn hidden(target: &Target) -> anyhow::Result<[Hidden; 3]> {
    let mut operator = Client::connect(target.address).await?.with_key(OPERATOR);
    let mut key = async |tenant: &str, wanted: Value| {
        let made = operator.json(Method::POST, &format!("/v1/tenants/{tenant}/keys"), Some(&wanted)).await?;
        anyhow::Ok((text(&made, "/secret")?, text(&made, "/key/id")?))
    };
    let [attacking, owning] = &target.tenants;
    let admin = json!({"name": "admin", "scopes": ["admin"]});
    let (attacker, _) = key(attacking, admin.clone()).await?;
    let (owner, owners_id) = key(owning, admin).await?;
    let limited = json!({"name": "limited", "scopes": ["admin"], "collections": ["c"]});
    let (limited, _) = key(owning, limited).await?;
    let reader = json!({"name": "reader", "scopes": OF_READER, "principals": ["user:ada"]});
    let (reader, _) = key(owning, reader).await?;
    let mut owner = Client::connect(target.address).await?.with_key(&owner);
    let mut post = async |path: &str, body: Value| owner.json(Method::POST, path, Some(&body)).await;
    let elsewhere = json!([{"source": "probed-elsewhere", "text": "Some words."}]);
    let elsewhere = post(UPLOAD, json!({"collection": "probed-1", "documents": elsewhere})).await?;
    let asked = post("/v1/ask", ask_in("probed-1", "Which words are there?")).await?;
    let listed = json!([{"source": "probed-listed", "text": "Other words.", "acl": {"allow": ["user:bob"]}}]);
    let listed = post(UPLOAD, json!({"collection": "c", "documents": listed})).await?;
    let erased = json!([{"source": "erased", "text": "Words."}]);
    let erased = post(UPLOAD, json!({"collection": "c", "documents": erased})).await?;
    let erasure = post("/v1/erasures", json!({"document": text(&erased, "/items/0/document_id")?})).await?;
    let collection = owner.json(Method::GET, "/v1/collections/probed-1", None).await?;
    let closed = Named {
        collection: "probed-1".to_owned(),
        within: "c".to_owned(),
        document: text(&elsewhere, "/items/0/document_id")?,
        source: "probed-elsewhere".to_owned(),
        job: text(&elsewhere, "/id")?,
        ask: text(&asked, "/id")?,
        index: text(&collection, "/index_id")?,
        erasure: text(&erasure, "/id")?,
        key: owners_id,
    };
    let listed = Named {
        collection: "c".to_owned(),
        source: "probed-listed".to_owned(),
        document: text(&listed, "/items/0/document_id")?,
        job: text(&listed, "/id")?,
        ..closed.clone()
    };
    let hidden =
        |from, key, scopes, there: Named| anyhow::Ok(Hidden { from, key, scopes, nothing: there.beside()?, there });
    Ok([
        hidden("another tenant", attacker, &["admin"], closed.clone())?,
        hidden("a collection", limited, &["admin"], closed)?,
        hidden("a list", reader, OF_READER, listed)?,
    ])
}
