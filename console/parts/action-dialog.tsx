// Shows the dialog of an action: what the action changes, its fields, its command line, and the buttons that send or
// cancel it.
import { useLayoutEffect, useRef } from "preact/hooks";
import { type Action, type Done, running, type Values } from "../core/action.ts";
import { refusalOf } from "../core/client.ts";
import { go } from "../core/router.ts";
import { store } from "../core/store.ts";
import { say } from "../core/toast.ts";
import { Form } from "./form.tsx";

export function ActionDialog() {
  const box = useRef<HTMLDialogElement>(null);
  const action = running.value;
  // An effect after the paint would be late: keys that are typed at once must reach the first field.
  useLayoutEffect(() => {
    if (action === null) return;
    box.current?.showModal();
    box.current?.querySelector<HTMLElement>("input, select, textarea, button.primary")?.focus();
  }, [action]);
  const close = () => {
    box.current?.close();
    running.value = null;
  };
  return (
    <dialog class="dialog" ref={box} aria-labelledby="action-title" onClose={() => (running.value = null)}>
      {action !== null && <OpenAction key={action.title} action={action} close={close} />}
    </dialog>
  );
}

/**
 * The user may close the dialog while the request runs. Then the result is only shown as a message, because another
 * dialog may be open, or another page.
 */
function OpenAction({ action, close }: { readonly action: Action; readonly close: () => void }) {
  const isOpen = useRef(true);
  useLayoutEffect(() => () => void (isOpen.current = false), []);
  const send = async (values: Values, key: string) => {
    try {
      return await action.send(values, key);
    } catch (error) {
      if (!isOpen.current) say(`${action.title}: ${refusalOf(error).message}`);
      throw error;
    }
  };
  const done = ({ said, to }: Done) => {
    say(said ?? `${action.title}: done`);
    store.changed("all");
    if (!isOpen.current) return;
    close();
    if (to !== undefined) go(to);
  };
  return (
    <>
      <h2 id="action-title">{action.title}</h2>
      <Form
        fields={action.fields ?? []}
        button={action.button ?? action.title}
        isDangerous={action.isDangerous}
        cli={action.cli}
        send={send}
        cancel={close}
        done={done}
      >
        {action.notice !== undefined && <p class={action.isDangerous ? "notice danger" : "notice"}>{action.notice}</p>}
      </Form>
    </>
  );
}
