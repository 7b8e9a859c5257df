// Shows the sign-in: a page before the first sign-in, and a dialog over the current page when a session has ended.
// Under the dialog, a filled form keeps its values.
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { command } from "./core/command.ts";
import { BASE } from "./core/router.ts";
import { findSession, me, session, signIn } from "./core/session.ts";
import { IssuerSignIn } from "./issuer-sign-in.tsx";
import { Heading } from "./parts/basics.tsx";
import { say } from "./core/toast.ts";
import { Form } from "./parts/form.tsx";

export function SignInPage() {
  return (
    <main class="sign-in">
      <Heading title="Sign in to Berth" />
      <IssuerSignIn />
      <SignIn />
    </main>
  );
}

export function SignInAgain() {
  const box = useRef<HTMLDialogElement>(null);
  const isEnded = session.value === "ended";
  useEffect(() => {
    if (isEnded && box.current?.open === false) box.current.showModal();
    if (!isEnded) box.current?.close();
  }, [isEnded]);
  return (
    <dialog class="dialog" ref={box} aria-labelledby="again" onCancel={(event) => event.preventDefault()}>
      {isEnded && (
        <>
          <h2 id="again">The session has ended</h2>
          <p class="notice">Sign in as {me.value?.username} to continue. The page below keeps your input.</p>
          <SignIn />
        </>
      )}
    </dialog>
  );
}

/** The link loads the document again, so that no data of the earlier user stay in the page. */
export function OtherUser() {
  return (
    <main class="sign-in">
      <Heading title="Another user has signed in" />
      <p class="notice" role="alert">
        This browser is now signed in as{" "}
        {me.value?.username}. The page of the earlier user is closed. Input that was not sent is lost.
      </p>
      <p>
        <a href={`${BASE}/`}>Continue as {me.value?.username}</a>
      </p>
    </main>
  );
}

export function Unreachable() {
  useEffect(() => {
    const again = setInterval(() => void findSession(), 2_000);
    return () => clearInterval(again);
  }, []);
  return (
    <main class="sign-in">
      <Heading title="The server does not answer" />
      <p>The console tries again every 2 seconds.</p>
    </main>
  );
}

/** Before the sign-in, the console does not know whether the user is an operator or a tenant's user. */
const PROGRAMS = ["opsctl", "tenantctl"] as const;

function SignIn() {
  const how = useSignal<"password" | "key">("password");
  const isPassword = how.value === "password";
  return (
    <>
      <div class="tabs" role="group" aria-label="Credential">
        <button type="button" aria-pressed={isPassword} onClick={() => (how.value = "password")}>Password</button>
        <button type="button" aria-pressed={!isPassword} onClick={() => (how.value = "key")}>API key</button>
      </div>
      <Form
        key={how.value}
        button="Sign in"
        fields={isPassword
          ? [
            { name: "username", label: "User name", initial: me.value?.username ?? "" },
            { name: "password", label: "Password", type: "secret" },
          ]
          : [{
            name: "api_key",
            label: "API key",
            type: "secret",
            hint:
              "Begins with opsk_. The installation or the first start of the server creates the root operator's key. " +
              "The console does not store keys.",
          }]}
        cli={({ username = "" }) => {
          const flags = { "--endpoint": location.origin, "--username": isPassword ? username || "NAME" : null };
          return PROGRAMS.map((program) => command([program, "login"], flags)).join("\n");
        }}
        send={async ({ username = "", password = "", api_key = "" }) => {
          await signIn(isPassword ? { username, password } : { api_key });
        }}
        done={() => say(`Signed in as ${me.value?.username}`)}
      />
    </>
  );
}
