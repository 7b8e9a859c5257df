// Contains small parts that many pages use.
import { signal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { NOT_FOUND, type Refusal } from "../core/client.ts";
import { inProjectNamed, isOfProject } from "../core/command.ts";
import { BASE, go, path } from "../core/router.ts";
import type { Read } from "../core/store.ts";
import { isOperator } from "../core/session.ts";
import { relative, words } from "../core/text.ts";
import { said, say } from "../core/toast.ts";
import { inProject, place } from "../tenant/place.ts";
import { useNamedProject } from "./use-named-project.ts";

/**
 * A link to a page of the console. A click with a modifier key keeps its meaning in the browser, for example a new tab.
 */
export function Link({ to, children, tabIndex, exact }: {
  readonly to: string;
  readonly children: ComponentChildren;
  readonly tabIndex?: number;
  /**
   * If true, the link is marked as current only on the page `to`. By default it is also marked on the pages below `to`.
   */
  readonly exact?: boolean;
}) {
  const follow = (event: MouseEvent) => {
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    go(to);
  };
  const isHere = path.value === to || (exact !== true && to !== "/" && path.value.startsWith(`${to}/`));
  return (
    <a href={BASE + to} aria-current={isHere ? "page" : undefined} tabIndex={tabIndex} onClick={follow}>{children}</a>
  );
}

/**
 * A failure with the server's error message and the request id. The id is outside the alert, because each read has
 * another id. So a screen reader announces an unchanged failure only once.
 */
export function Problem({ refusal, lookedFor, isLate }: {
  readonly refusal: Refusal;
  /** The object of the page with its kind: "node 0198c2f4". The message about a missing object contains this text. */
  readonly lookedFor?: string;
  /** Whether an earlier read succeeded. The page then still shows the data of that read. */
  readonly isLate?: boolean;
}) {
  const isMissing = lookedFor !== undefined && refusal.status === 404 && refusal.message === NOT_FOUND;
  return (
    <div class="problem">
      <div role="alert">
        <strong>{isMissing ? `There is no ${lookedFor}` : refusal.message}</strong>
        {isMissing && (
          <p>It may have been deleted, the address may have a typo, or you may lack the permission to see it.</p>
        )}
        {isLate === true && <p>The page shows data from an earlier read, which may be out of date.</p>}
      </div>
      {isMissing && <WaysBack />}
      {refusal.request_id !== null && (
        <p>
          Request <code>{refusal.request_id}</code>
        </p>
      )}
    </div>
  );
}

/**
 * The title and the address of an operator's lists. The key is the first part of the address of an object in the list.
 */
const LISTS: Readonly<Record<string, readonly [string, string]>> = {
  audit: ["Audit", "/audit"],
  boot: ["Boot records", "/boot"],
  instances: ["All instances", "/all-instances"],
  jobs: ["Jobs", "/jobs"],
  nodes: ["Nodes", "/nodes"],
  operations: ["Operations", "/operations"],
  tenants: ["Tenants", "/tenants"],
};
/** The lists of a project. Their addresses are below the address of the project. */
const PROJECT_LISTS: typeof LISTS = {
  "instances": ["Instances", "instances"],
  "nat-gateways": ["VPCs", "networks"],
  "vpcs": ["VPCs", "networks"],
  "webhooks": ["Webhooks", "webhooks"],
};

/** Returns the list of the kind of objects that the shown address names; undefined without such a list. */
function listHere(): readonly [string, string] | undefined {
  const [, kind = ""] = path.value.split("/");
  const ofAll = isOperator() || kind === "operations" ? LISTS[kind] : undefined;
  const ofProject = PROJECT_LISTS[kind];
  if (ofAll !== undefined || ofProject === undefined || place.value === null) return ofAll;
  return [ofProject[0], inProject(place.value, ofProject[1])];
}

/** Links away from the page of an object that does not exist: to the list of such objects, and to the start. */
export function WaysBack() {
  const list = listHere();
  return (
    <p class="ways-back">
      {list !== undefined && <Link to={list[1]}>Go to “{list[0]}”</Link>}
      <Link to="/">Go to the start</Link>
    </p>
  );
}

/** The refusal of the last read of a part of a page; nothing if the read succeeded. */
export function Refused({ of: { data, refusal } }: { readonly of: Read<unknown> }) {
  return refusal === undefined ? null : <Problem refusal={refusal} isLate={data !== undefined} />;
}

/** The colour of a state. The state is always shown as a word, too. */
const TONES: Readonly<Record<string, string>> = {
  approved: "ok",
  running: "ok",
  succeeded: "ok",
  completed: "ok",
  enrolled: "ok",
  allow: "ok",
  ok: "ok",
  accept: "ok",
  delivered: "ok",
  enabled: "ok",
  pending: "warn",
  awaiting_setup: "warn",
  setting_up: "warn",
  provisioning: "warn",
  stopping: "warn",
  in_progress: "warn",
  unwinding: "warn",
  enrolling: "warn",
  warn: "warn",
  failed: "bad",
  stuck: "bad",
  fail: "bad",
  deny: "bad",
  reject: "bad",
  dead: "bad",
  unwound: "bad",
};

export function State({ of }: { readonly of: string }) {
  return <span class={`state ${TONES[of] ?? "quiet"}`}>{words(of)}</span>;
}

/** The page's heading. It takes the focus when the page opens, so that a screen reader announces the page. */
export function Heading({ title, children, above }: {
  readonly title: string;
  readonly children?: ComponentChildren;
  /** A link to the list that the object belongs to. */
  readonly above?: JSX.Element;
}) {
  const at = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    // If the heading appears late, the user may be typing already. The field or terminal then keeps the focus.
    const isTyping = document.activeElement?.closest("main :is(input, textarea, select)") != null;
    if (!isTyping) at.current?.focus({ preventScroll: true });
  }, []);
  useEffect(() => {
    document.title = `${title} · Berth`;
  }, [title]);
  return (
    <header class="heading">
      {above !== undefined && <p class="above">{above}</p>}
      <h1 tabIndex={-1} ref={at}>{title}</h1>
      {children}
    </header>
  );
}

const TICK_MS = 1_000;
/** The present time in milliseconds, updated every second while the page is visible. */
export const now = signal(Date.now());
setInterval(() => {
  if (document.visibilityState === "visible") now.value = Date.now();
}, TICK_MS);

/**
 * Shows a time as its distance from now, such as "3 min ago". The exact time is shown on hover and read by screen
 * readers.
 */
export function When({ at, none = "never" }: { readonly at: string | null | undefined; readonly none?: string }) {
  if (at === null || at === undefined) return <span class="dim">{none}</span>;
  return <time dateTime={at} title={at}>{relative(at, now.value)}</time>;
}

/** Values with their names. A value that is null or empty is shown as a dash. */
export function Facts({ of }: { readonly of: Readonly<Record<string, ComponentChildren>> }) {
  return (
    <dl class="facts">
      {Object.entries(of).map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value === null || value === undefined || value === "" ? <span class="dim">–</span> : value}</dd>
        </div>
      ))}
    </dl>
  );
}

export function Section({ title, children, count, refusal }: {
  readonly title: string;
  readonly children: ComponentChildren;
  /** The number of objects in the section. Undefined until they are read. */
  readonly count?: number | undefined;
  /** The refusal of the last read of the objects. */
  readonly refusal?: Refusal | undefined;
}) {
  return (
    <section class="section">
      <h2>
        {title} {count !== undefined && <span class="dim">{count}</span>}
      </h2>
      {refusal !== undefined && <Problem refusal={refusal} isLate={count !== undefined} />}
      {children}
    </section>
  );
}

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {said.value.map(({ id, text }) => <p key={id}>{text}</p>)}
    </div>
  );
}

/** A text with a button that copies it. A line does not break inside an option, such as `--dry-run`. */
export function Copyable({ text, label }: { readonly text: string; readonly label: string }) {
  const copy = () =>
    void navigator.clipboard.writeText(text).then(() => say("Copied"), () => say("Copying is refused"));
  return (
    <span class="copyable">
      <code>
        {text.split(/(?<= )(--\S+)/).map((part, index) =>
          part.startsWith("--") ? <span key={index} class="option">{part}</span> : part
        )}
      </code>
      <button type="button" class="quiet" aria-label={`Copy ${label}`} onClick={copy}>Copy</button>
    </span>
  );
}

/** The command that has the same effect as the page. Each line has its own button. Without a command, shows nothing. */
export function AsCommand({ line }: { readonly line: string }) {
  const lines = line.split("\n");
  const project = useNamedProject(lines.some(isOfProject));
  if (line === "") return null;
  return (
    <div class="as-command">
      <span class="dim">As a command</span> {lines.map((each) => (
        <Copyable
          key={each}
          text={project === null ? each : inProjectNamed(each, project)}
          label="the command"
        />
      ))}
    </div>
  );
}
