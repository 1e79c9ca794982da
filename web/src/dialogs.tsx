// Dialogs: the key, and whether something may be deleted.
import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { keyQuestion, useKey } from "./api";

const confirmation = signal<{ title: string; text: string; end: (isConfirmed: boolean) => void } | null>(null);

/** Asks before something is done that cannot be undone. */
export function confirmed(title: string, text: string): Promise<boolean> {
  return new Promise((resolve) => {
    confirmation.value = { title, text, end: resolve };
  });
}

export function Dialogs() {
  return <>{keyQuestion.value && <KeyDialog {...keyQuestion.value} />}{confirmation.value && <ConfirmDialog {...confirmation.value} />}</>;
}

function Dialog({ title, onCancel, children }: { title: string; onCancel: () => void; children: ComponentChildren }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} aria-labelledby="dialog-title" onCancel={(event) => { event.preventDefault(); onCancel(); }}>
      <h2 id="dialog-title">{title}</h2>
      {children}
    </dialog>
  );
}

function KeyDialog({ isRefused, end }: { isRefused: boolean; end: (isEntered: boolean) => void }) {
  const key = useRef<HTMLInputElement>(null);
  const isKept = useRef<HTMLInputElement>(null);
  const submit = (event: Event) => {
    event.preventDefault();
    const entered = key.current?.value.trim() ?? "";
    if (!entered) return;
    useKey(entered, isKept.current?.checked ?? false);
    end(true);
  };
  return (
    <Dialog title="This service needs a key" onCancel={() => end(false)}>
      <form onSubmit={submit}>
        {isRefused && <p class="failure" role="alert">The service does not know this key.</p>}
        <label class="field">Key <input ref={key} type="password" autocomplete="off" required autofocus /></label>
        <label class="check"><input ref={isKept} type="checkbox" /> Keep it until this tab is closed</label>
        <p class="quiet">Otherwise it is forgotten when the page is loaded anew. It is sent to this service only.</p>
        <div class="row"><button type="button" onClick={() => end(false)}>Cancel</button><button type="submit" class="primary">Use the key</button></div>
      </form>
    </Dialog>
  );
}

function ConfirmDialog({ title, text, end }: { title: string; text: string; end: (isConfirmed: boolean) => void }) {
  const close = (isConfirmed: boolean) => {
    confirmation.value = null;
    end(isConfirmed);
  };
  return (
    <Dialog title={title} onCancel={() => close(false)}>
      <p>{text}</p>
      <div class="row"><button type="button" autofocus onClick={() => close(false)}>Cancel</button><button type="button" class="primary danger" onClick={() => close(true)}>Delete</button></div>
    </Dialog>
  );
}
