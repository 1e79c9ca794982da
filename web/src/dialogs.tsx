// Dialogs: the key, and whether something may be deleted.
import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { type Credential, keyQuestion, useCredential } from "./api";
import { logIn, login, loginFault } from "./login";

interface Question {
  title: string;
  text: string;
  /** What is done, in a word, for the button. */
  deed: string;
}

const confirmation = signal<(Question & { end: (isConfirmed: boolean) => void }) | null>(null);

/** Asks before something is done that cannot be undone. */
export function confirmed(question: Question): Promise<boolean> {
  return new Promise((resolve) => {
    confirmation.value = { ...question, end: resolve };
  });
}

export function Dialogs() {
  return <>{keyQuestion.value && <KeyDialog {...keyQuestion.value} />}{confirmation.value && <ConfirmDialog {...confirmation.value} />}</>;
}

function Dialog({ title, onCancel, children }: { title: string; onCancel: () => void; children: ComponentChildren }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const opener = document.activeElement;
    dialog.current?.showModal();
    // A dialog that is removed gives the focus back to nothing.
    return () => { if (opener instanceof HTMLElement) opener.focus(); };
  }, []);
  return (
    <dialog ref={dialog} aria-labelledby="dialog-title" onCancel={(event) => { event.preventDefault(); onCancel(); }}>
      <h2 id="dialog-title">{title}</h2>
      {children}
    </dialog>
  );
}

const REFUSED = {
  key: "The service does not know this key.",
  token: "Your log-in has ended, or the service does not accept it.",
};

function KeyDialog({ refused, end }: { refused: Credential | null; end: (isEntered: boolean) => void }) {
  const key = useRef<HTMLInputElement>(null);
  const isKept = useRef<HTMLInputElement>(null);
  const submit = (event: Event) => {
    event.preventDefault();
    const entered = key.current?.value.trim() ?? "";
    if (!entered) return;
    useCredential({ kind: "key", secret: entered }, isKept.current?.checked);
    end(true);
  };
  const provider = login.value;
  const fault = loginFault.value || (refused && REFUSED[refused.kind]);
  return (
    <Dialog title={provider ? "Log in, or enter a key" : "This service needs a key"} onCancel={() => end(false)}>
      {fault && <p class="failure" role="alert">{fault}</p>}
      {provider && <button type="button" class="primary" autofocus onClick={() => void logIn(provider)}>Log in at {new URL(provider.issuer).host}</button>}
      <form onSubmit={submit}>
        <label class="field">Key <input ref={key} type="password" autocomplete="off" required autofocus={!provider} /></label>
        <label class="check"><input ref={isKept} type="checkbox" /> Keep it until this tab is closed</label>
        <p class="quiet">Otherwise it is forgotten when the page is loaded anew. It is sent to this service only.</p>
        <div class="row"><button type="button" onClick={() => end(false)}>Cancel</button><button type="submit" class="primary">Use the key</button></div>
      </form>
    </Dialog>
  );
}

function ConfirmDialog({ title, text, deed, end }: Question & { end: (isConfirmed: boolean) => void }) {
  const close = (isConfirmed: boolean) => {
    confirmation.value = null;
    end(isConfirmed);
  };
  return (
    <Dialog title={title} onCancel={() => close(false)}>
      <p>{text}</p>
      <div class="row"><button type="button" autofocus onClick={() => close(false)}>Cancel</button><button type="button" class="primary danger" onClick={() => close(true)}>{deed}</button></div>
    </Dialog>
  );
}
