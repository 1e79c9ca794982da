// The page: bar, views by the address's fragment, keys of the keyboard.
import { signal } from "@preact/signals";
import { render } from "preact";
import { AskView } from "./ask";
import { ActivityView } from "./activity";
import { askForKey, hasKey, useKey } from "./api";
import { Card, hideCard, step } from "./cited";
import { loadCollections } from "./collections";
import { announced } from "./conversation";
import { Dialogs } from "./dialogs";
import { DocumentsView } from "./documents";
import { Pane, closePane, openPane, pane } from "./pane";

const view = signal("");

function route(): void {
  const path = location.hash.replace(/^#\/?/, "");
  if (path.startsWith("c/")) {
    view.value = "";
    openPane({ urn: decodeURIComponent(path.slice(2)), source: null, quotes: [], focus: null }, null);
  } else {
    view.value = path;
  }
}

const VIEWS = [["", "Ask"], ["documents", "Documents"], ["activity", "Activity"]] as const;

function App() {
  const changeKey = async () => {
    if (hasKey.value) useKey("", false);
    else if (await askForKey()) await loadCollections();
  };
  const keyLabel = hasKey.value ? "Forget the key" : "Enter a key";
  return (
    <>
      <a class="skip" href="#main" onClick={(event) => { event.preventDefault(); document.getElementById("main")?.focus(); }}>Skip to the content</a>
      <header class="bar">
        <a class="brand" href="#/"><span aria-hidden="true">[1]</span> Cited</a>
        <nav aria-label="Views">
          {VIEWS.map(([path, name]) => <a key={path} href={`#/${path}`} aria-current={view.value === path ? "page" : undefined}>{name}</a>)}
        </nav>
        <button type="button" class="link" aria-label={keyLabel} onClick={() => void changeKey()}><span class="long">{keyLabel}</span><span class="short">Key</span></button>
      </header>
      <div class={pane.value ? "desk open" : "desk"}>
        <main id="main" tabIndex={-1}>
          {view.value === "documents" ? <DocumentsView /> : view.value === "activity" ? <ActivityView /> : <AskView />}
        </main>
        <Pane />
      </div>
      <Card />
      <Dialogs />
      <div class="unseen" aria-live="polite">{announced.value}</div>
    </>
  );
}

addEventListener("hashchange", route);
addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !document.querySelector("dialog[open]")) {
    hideCard();
    closePane();
  }
  const isTyping = event.target instanceof Element && event.target.closest("input, textarea, select, dialog");
  if (isTyping || event.ctrlKey || event.metaKey) return;
  if (event.key === "]") step(1);
  if (event.key === "[") step(-1);
});
addEventListener("scroll", hideCard, true);

const root = document.getElementById("app");
if (root) render(<App />, root);
route();
void loadCollections();
