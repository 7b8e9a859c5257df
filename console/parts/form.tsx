// Shows a form: fields with labels and hints, and the command line that has the same effect. If the server's refusal
// names a field, the form shows the refusal at this field.
import { useSignal } from "@preact/signals";
import { useEffect, useId, useMemo, useRef } from "preact/hooks";
import type { ComponentChildren } from "preact";
import type { Done, Field, Values } from "../core/action.ts";
import { type Refusal, refusalOf } from "../core/client.ts";
import { initialValues } from "../core/editing.ts";
import { askBeforeLeaving, path } from "../core/router.ts";
import { store } from "../core/store.ts";
import { parseBytes } from "../core/text.ts";
import { say } from "../core/toast.ts";
import { AsCommand, Problem } from "./basics.tsx";

type Props = {
  readonly fields: readonly Field[];
  readonly button: string;
  /** Names the request in a message about its result. Default: the label of the button. */
  readonly title?: string;
  readonly isDangerous?: boolean | undefined;
  readonly cli: (values: Values) => string;
  readonly send: (values: Values, key: string) => Promise<Done | void>;
  readonly done: (done: Done) => void;
  /** Whether the request only reads. The result of such a request is not shown if the user has left the form. */
  readonly onlyReads?: boolean;
  /** Returns whether the user has left the form since it was sent. Default: whether another page is shown. */
  readonly hasLeft?: () => boolean;
  readonly cancel?: () => void;
  readonly children?: ComponentChildren;
  /** Called at every change, so that a page can show what a value means. */
  readonly onValues?: (values: Values) => void;
  /**
   * Returns what the form changes. The user then confirms the changes before the form is sent. May throw a Refusal that
   * names a field.
   */
  readonly review?: (values: Values) => string;
};

/**
 * The user may leave the form while its request runs. Then a message shows the result, because another page or dialog
 * may be open.
 */
export function Form(props: Props) {
  const { fields, button, title = button, isDangerous, cli, send, done, cancel, children, onValues, review } = props;
  const { onlyReads = false } = props;
  const id = useId();
  const form = useRef<HTMLFormElement>(null);
  // A repeated attempt after a lost answer is the same request (docs/wire.md, "Repeating a request").
  const key = useSignal(crypto.randomUUID());
  const first = useMemo(() => initialValues(fields), []);
  const values = useSignal<Values>(first);
  const refusal = useSignal<Refusal | null>(null);
  const busy = useSignal(false);
  /** The text that the user must confirm; null if the form does not ask for a confirmation. */
  const asked = useSignal<string | null>(null);
  const blamed = blamedField(refusal.value, fields);
  useEffect(() => () => askBeforeLeaving(id, null), []);
  useEffect(() => {
    if (asked.value !== null) form.current?.lastElementChild?.scrollIntoView({ block: "nearest" });
  }, [asked.value]);

  const askIfChanged = () => {
    const isChanged = !onlyReads && fields.length > 1 && values.peek() !== first;
    askBeforeLeaving(id, isChanged ? "The form is not sent. Leave the page?" : null);
  };
  const set = (name: string, value: string) => {
    values.value = { ...values.value, [name]: value };
    asked.value = null;
    askIfChanged();
    onValues?.(values.value);
  };
  /** Called when the outcome of a request is known, because the next attempt is a new request. */
  const renewKey = () => (key.value = crypto.randomUUID());
  const submit = async (event: Event) => {
    event.preventDefault();
    if (busy.value) return;
    busy.value = true;
    refusal.value = null;
    const from = path.peek();
    const hasLeft = props.hasLeft ?? (() => path.peek() !== from);
    try {
      if (review !== undefined && asked.value === null) {
        asked.value = review(values.value);
        return;
      }
      askBeforeLeaving(id, null);
      const sent = values.peek();
      const result = await send(sent, key.value) ?? {};
      renewKey();
      askBeforeLeaving(id, null);
      asked.value = null;
      if (!hasLeft()) {
        done(result);
        // The user may have changed the values while the request ran. Then the page learns that its answer is out of
        // date.
        if (onlyReads && values.peek() !== sent) onValues?.(values.peek());
        return;
      }
      if (onlyReads) return;
      say(result.said ?? `${title}: done`);
      store.changed("all");
    } catch (error) {
      asked.value = null;
      refusal.value = refusalOf(error);
      if (!hasLeft()) askIfChanged();
      else if (!onlyReads) say(`${title}: ${refusal.value.message}`);
      if (!refusal.value.is_unknown) renewKey();
      queueMicrotask(() => form.current?.querySelector<HTMLElement>("[aria-invalid]")?.focus());
    } finally {
      busy.value = false;
    }
  };
  return (
    <form ref={form} onSubmit={submit} onKeyDown={submitByKey} class="form" aria-busy={busy.value}>
      {children}
      {fields.map((field) => (
        <FieldRow
          key={field.name}
          id={`${id}-${field.name}`}
          field={field}
          value={values.value[field.name] ?? ""}
          bad={blamed === field.name ? refusal.value?.message : undefined}
          set={(value) => set(field.name, value)}
        />
      ))}
      {refusal.value !== null && blamed === null && <Problem refusal={refusal.value} />}
      <AsCommand line={cli(values.value)} />
      {asked.value !== null && <p class="sentence warn" role="alert">{asked.value}</p>}
      <footer>
        {cancel !== undefined && <button type="button" onClick={cancel}>Cancel</button>}
        {asked.value !== null && <button type="button" onClick={() => (asked.value = null)}>Go back</button>}
        <button
          class={isDangerous || asked.value !== null ? "primary danger" : "primary"}
          type="submit"
          aria-disabled={busy.value}
        >
          {busy.value ? "Working…" : asked.value === null ? button : `Confirm: ${button.toLowerCase()}`}
        </button>
      </footer>
    </form>
  );
}

/** Enter sends the form only from an input of one line; Ctrl-Enter sends it from every field. */
function submitByKey(event: KeyboardEvent & { readonly currentTarget: HTMLFormElement }): void {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  event.currentTarget.requestSubmit();
}

type RowProps = {
  readonly id: string;
  readonly field: Field;
  readonly value: string;
  readonly bad: string | undefined;
  readonly set: (value: string) => void;
};

function FieldRow({ id, field, value, bad, set }: RowProps) {
  const hint = bad ?? field.hint;
  /** A field with an empty choice is not `required`, because the browser would refuse this choice. */
  const hasEmptyChoice = field.choices?.some((each) => each.value === "") === true;
  const shared = {
    id,
    name: field.name,
    required: field.isOptional !== true && field.type !== "toggle" && !hasEmptyChoice,
    "aria-describedby": hint === undefined ? undefined : `${id}-hint`,
    "aria-invalid": bad === undefined ? undefined : true,
  } as const;
  const onInput = (event: { readonly currentTarget: HTMLInputElement | HTMLTextAreaElement }) => {
    event.currentTarget.setCustomValidity(complaint(field, event.currentTarget.value));
    set(event.currentTarget.value);
  };
  const label = (
    <label for={id}>
      {field.label}
      {field.isOptional && <em>optional</em>}
    </label>
  );
  const text = hint !== undefined && <p id={`${id}-hint`} class={bad === undefined ? "hint" : "bad"}>{hint}</p>;
  if (field.type === "toggle") {
    return (
      <div class="field toggle">
        <input
          {...shared}
          type="checkbox"
          checked={value === "true"}
          onChange={(event) => set(event.currentTarget.checked ? "true" : "")}
        />
        {label}
        {text}
      </div>
    );
  }
  if (field.type === "choice") {
    const choices = field.choices ?? [];
    return (
      <div class="field">
        {label}
        <select {...shared} value={value} onChange={(event) => set(event.currentTarget.value)}>
          {(field.isOptional === true || value === "") && !hasEmptyChoice && (
            <option value="">
              {field.isOptional === true || choices.length === 0 ? field.none ?? "none" : "choose one"}
            </option>
          )}
          {choices.map((each) => <option key={each.value} value={each.value}>{each.label}</option>)}
        </select>
        {text}
      </div>
    );
  }
  const typed = { ...shared, value, onInput, spellcheck: false };
  const input = field.type === "lines"
    ? <textarea {...typed} rows={rowsOf(value)} />
    : field.type === "secret"
    ? <input {...typed} type="password" autocomplete="new-password" />
    : field.type === "number"
    ? <input {...typed} type="number" step="any" />
    : <input {...typed} type="text" autocomplete="off" list={field.suggestions && `${id}-list`} />;
  return (
    <div class="field">
      {label}
      {input}
      {field.suggestions !== undefined && (
        <datalist id={`${id}-list`}>
          {field.suggestions.map((each) => <option key={each.value} value={each.value}>{each.label}</option>)}
        </datalist>
      )}
      {text}
    </div>
  );
}

const ROWS_MIN = 5;
const ROWS_MAX = 30;

/** Returns the height of a text box in rows. The box shows the whole text unless the text is very long. */
export function rowsOf(text: string): number {
  return Math.min(ROWS_MAX, Math.max(ROWS_MIN, text.split("\n").length + 1));
}

function complaint({ type, mustBe }: Field, value: string): string {
  if (mustBe !== undefined && value !== mustBe) return `Type ${mustBe}`;
  if (type === "bytes" && value !== "" && parseBytes(value) === null) return "A size looks like 4GiB";
  return "";
}

/**
 * Returns the field that the message of a refusal names at its start, as in "body.cpu: must be above 0"; null if the
 * message names no field there.
 */
export function blamedField(refusal: Refusal | null, fields: readonly Field[]): string | null {
  const name = /^(?:body\.)?([a-z_0-9]+)(?:[.[][^:\s]*)?(?::| must | is )/.exec(refusal?.message ?? "")?.[1];
  return fields.some((field) => field.name === name) ? name ?? null : null;
}
