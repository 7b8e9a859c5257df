// Shows the dialog of an action. It shows the effect of the action, its fields, its command line and one button.
import { useLayoutEffect, useRef } from "preact/hooks";
import { running } from "../core/action.ts";
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
      {action !== null && (
        <>
          <h2 id="action-title">{action.title}</h2>
          <Form
            key={action.title}
            fields={action.fields ?? []}
            button={action.button ?? action.title}
            isDangerous={action.isDangerous}
            cli={action.cli}
            send={action.send}
            cancel={close}
            done={({ said, to }) => {
              close();
              say(said ?? `${action.title}: done`);
              store.changed("all");
              if (to !== undefined) go(to);
            }}
          >
            {action.notice !== undefined && (
              <p class={action.isDangerous ? "notice danger" : "notice"}>{action.notice}</p>
            )}
          </Form>
        </>
      )}
    </dialog>
  );
}
