// Shows the dialog of an action: what the action changes, its fields, its command line, and the buttons that send or
// cancel it.
import { useLayoutEffect, useRef } from "preact/hooks";
import { type Action, type Done, running } from "../core/action.ts";
import { go, path } from "../core/router.ts";
import { store } from "../core/store.ts";
import { say } from "../core/toast.ts";
import { Form } from "./form.tsx";

export function ActionDialog() {
  const box = useRef<HTMLDialogElement>(null);
  const action = running.value;
  // This is a layout effect, because keys that are typed at once must reach the first field.
  useLayoutEffect(() => {
    if (action === null) return;
    box.current?.showModal();
    box.current?.querySelector<HTMLElement>("input, select, textarea, button.primary")?.focus();
  }, [action]);
  const close = () => {
    box.current?.close();
    running.value = null;
  };
  // A dialog belongs to the page that opened it. The Back button can show another page while the dialog is open.
  useLayoutEffect(() => close, [path.value]);
  // The browser sends "close" some time after the dialog closed. By then another action can have opened it again.
  const closed = () => {
    if (box.current?.open !== true) running.value = null;
  };
  return (
    <dialog class="dialog" ref={box} aria-labelledby="action-title" onClose={closed}>
      {action !== null && <OpenAction key={action.title} action={action} close={close} />}
    </dialog>
  );
}

function OpenAction({ action, close }: { readonly action: Action; readonly close: () => void }) {
  const isOpen = useRef(true);
  useLayoutEffect(() => () => void (isOpen.current = false), []);
  const done = ({ said, to }: Done) => {
    say(said ?? `${action.title}: done`);
    store.changed("all");
    close();
    if (to !== undefined) go(to);
  };
  return (
    <>
      <h2 id="action-title">{action.title}</h2>
      <Form
        fields={action.fields ?? []}
        button={action.button ?? action.title}
        title={action.title}
        isDangerous={action.isDangerous}
        cli={action.cli}
        send={action.send}
        cancel={close}
        done={done}
        hasLeft={() => !isOpen.current}
      >
        {action.notice !== undefined && <p class={action.isDangerous ? "notice danger" : "notice"}>{action.notice}</p>}
      </Form>
    </>
  );
}
