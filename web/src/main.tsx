// The page: bar, views by the address's fragment, keys of the keyboard.
import { signal } from "@preact/signals";
import { type JSX, render } from "preact";
import { AskView } from "./ask";
import { ActivityView } from "./activity";
import { askForKey, credential, useCredential } from "./api";
import { Card, hideCard, step } from "./cited";
import { loadCollections, loadProblem } from "./collections";
import { announced, startAnew } from "./conversation";
import { Dialogs } from "./dialogs";
import { DocumentsView } from "./documents";
import { KeysView } from "./keys";
import { endLogIn, loadLogin, login, loginFault } from "./login";
import { Pane, closePane, openPane, pane } from "./pane";
import { type Right, areKnown, loadRights, may } from "./rights";

const view = signal("");

function route(): void {
  const path = location.hash.replace(/^#\/?/, "");
  hideCard();
  if (path.startsWith("c/")) {
    view.value = "";
    openPane({ urn: decodeURIComponent(path.slice(2)), source: null, quotes: [], focus: null }, null);
  } else {
    view.value = path;
  }
}

interface View {
  path: string;
  name: string;
  content: () => JSX.Element;
  needs: Right;
}

const VIEWS: View[] = [
  { path: "", name: "Ask", content: () => <AskView />, needs: "ask" },
  { path: "documents", name: "Documents", content: () => <DocumentsView />, needs: "read" },
  { path: "activity", name: "Activity", content: () => <ActivityView />, needs: "seeAsks" },
  { path: "keys", name: "Keys", content: () => <KeysView />, needs: "manageKeys" },
];

/** Reads what the page shows first, and what its user may do. */
async function load(): Promise<void> {
  await loadCollections();
  if (!loadProblem.value) await loadRights();
}

function keyLabel(): string {
  if (credential.value) return credential.value.kind === "token" ? "Log out" : "Forget the key";
  return login.value ? "Log in" : "Enter a key";
}

function App() {
  const changeKey = async () => {
    loginFault.value = "";
    if (credential.value) {
      useCredential(null);
      startAnew();
    }
    else if (await askForKey()) await load();
  };
  const label = keyLabel();
  const offered = VIEWS.filter((each) => (areKnown() ? may(each.needs) : each.path === ""));
  const open = (areKnown() ? offered : VIEWS).find((each) => each.path === view.value) ?? offered[0];
  return (
    <>
      <a class="skip" href="#main" onClick={(event) => { event.preventDefault(); document.getElementById("main")?.focus(); }}>Skip to the content</a>
      <header class="bar">
        <a class="brand" href="#/"><span aria-hidden="true">[1]</span> Cited</a>
        <nav aria-label="Views">
          {offered.map(({ path, name }) => <a key={path} href={`#/${path}`} aria-current={open?.path === path ? "page" : undefined}>{name}</a>)}
        </nav>
        <button type="button" class="link" aria-label={label} onClick={() => void changeKey()}><span class="long">{label}</span><span class="short">{login.value ? label : "Key"}</span></button>
      </header>
      <div class={pane.value ? "desk open" : "desk"}>
        <main id="main" tabIndex={-1}>
          {open?.content()}
          <Card />
        </main>
        <Pane />
      </div>
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

async function start(): Promise<void> {
  await loadLogin();
  if (login.value) await endLogIn(login.value);
  route();
  await load();
}

void start();
