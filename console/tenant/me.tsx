// Shows the user's own page: account, API keys, SSH keys, sessions, and the switch for single keys. Actions of the page
// create an API key, add an SSH key and change the password.
import type { ApiKeyCreated, ApiKeyView } from "../../src/contract/api-key.ts";
import type { SessionListed } from "../../src/contract/identity.ts";
import type { SshKey } from "../../src/contract/ssh-key.ts";
import { useSignal } from "@preact/signals";
import { type Action, run, useActions } from "../core/action.ts";
import { get, getArray, send } from "../core/client.ts";
import { command } from "../core/command.ts";
import { fullScopeOnly, isOperator, me } from "../core/session.ts";
import { setSingleKeys, singleKeys } from "../core/keys.ts";
import { Actions } from "../parts/actions.tsx";
import { AsCommand, Copyable, Facts, Heading, Problem, Section, When } from "../parts/basics.tsx";
import { RowLabels } from "../parts/row-labels.tsx";
import { useQuery } from "../parts/use-query.ts";

/** The file in which ssh-keygen stores a user's public key by default. */
const KEY_FILE = "~/.ssh/id_ed25519.pub";

/** The command-line program for this user. */
const program = () => isOperator() ? "opsctl" : "tenantctl";

export function Me() {
  const secret = useSignal<string | null>(null);
  const who = me.value;
  // A site has one key for each node, so these keys are left out.
  const keys = useQuery({
    key: "api keys",
    kinds: ["api-key"],
    read: (signal) => get<ApiKeyView[]>("/v1/auth/api-keys", { of_nodes: "false" }, signal),
  });
  const ssh = useQuery({
    key: "my ssh keys",
    kinds: ["ssh-key"],
    read: (signal) => getArray<SshKey>("/v1/auth/ssh-keys", signal),
  });
  useActions(meActions((made) => (secret.value = made)));
  return (
    <>
      <Heading title={who?.username ?? "Me"}>
        <Actions visible={3} />
      </Heading>
      <Facts
        of={{
          "Rights": who?.is_root ? "root operator" : who?.capabilities.join(", ") || "member of the tenant",
          "Tenant": who?.tenant_name,
          "Signed in with": who?.key_id === null ? "a session" : `an API key (${who?.scope})`,
          "Session ends": <When at={who?.expires_at} none="no set time" />,
        }}
      />
      {secret.value !== null && (
        <div class="sentence warn">
          <p>The key is shown once. Store it now.</p>
          <Copyable text={secret.value} label="the key" />
        </div>
      )}
      <Section title="API keys" count={keys.data?.length}>
        {keys.refusal !== undefined && <Problem refusal={keys.refusal} />}
        <ul class="plain">
          {(keys.data ?? []).map((key) => (
            <li key={key.id}>
              {key.description}
              <span class="dim">{key.scope}</span>
              <span class="dim">
                used <When at={key.last_used_at} />
              </span>
              <span class="dim">
                expires <When at={key.expires_at} />
              </span>
              <button type="button" onClick={() => run(removeKey(key))}>Revoke</button>
            </li>
          ))}
        </ul>
        {isOperator() && (
          <p class="dim">
            The keys of nodes are not listed here. <code>opsctl api-key list --of-nodes true</code> lists them.
          </p>
        )}
      </Section>
      <Section title="SSH keys" count={ssh.data?.length}>
        {ssh.refusal !== undefined && <Problem refusal={ssh.refusal} />}
        {ssh.data?.length === 0 && <p class="dim">You have no SSH key. New instances get the keys that you choose.</p>}
        <ul class="plain">
          {(ssh.data ?? []).map((key) => (
            <li key={key.id}>
              {key.name}
              <code class="dim">{key.fingerprint}</code>
              <RowLabels
                name={key.name}
                path={`/v1/ssh-keys/${key.id}`}
                labels={key.labels}
                argv={["tenantctl", "ssh-key", "update", key.name]}
              />
            </li>
          ))}
        </ul>
      </Section>
      <Sessions />
      <Section title="Keyboard">
        <div class="field toggle">
          <input
            id="single-keys"
            type="checkbox"
            checked={singleKeys.value}
            onChange={(event) => setSingleKeys(event.currentTarget.checked)}
          />
          <label for="single-keys">Single keys act (j, k, /, g n). Press ? for the list.</label>
        </div>
      </Section>
      <AsCommand line={command([program(), "whoami"])} />
    </>
  );
}

function Sessions() {
  const { data, refusal } = useQuery({
    key: "my sessions",
    kinds: ["session"],
    read: (signal) => getArray<SessionListed>("/v1/auth/sessions", signal),
  });
  return (
    <Section title="Sessions" count={data?.length}>
      {refusal !== undefined && <Problem refusal={refusal} />}
      <ul class="plain">
        {(data ?? []).map((session) => (
          <li key={session.id}>
            {session.kind === "web" ? "web console" : "program"}
            {session.is_current && <strong>this one</strong>}
            {session.api_key_id !== null && <span class="dim">with an API key</span>}
            <span class="dim">
              signed in <When at={session.created_at} />
            </span>
            <span class="dim">
              ends <When at={session.expires_at} />
            </span>
            {!session.is_current && <button type="button" onClick={() => run(endSession(session))}>End</button>}
          </li>
        ))}
      </ul>
    </Section>
  );
}

function endSession({ id }: SessionListed): Action {
  return {
    title: "End the session",
    button: "End",
    notice: "The browser or program that uses it must sign in again.",
    refused: fullScopeOnly(),
    cli: () => command([program(), "session", "end", id]),
    send: async (_, key) => {
      await send("DELETE", `/v1/auth/sessions/${id}`, { key });
      return { said: "The session has ended" };
    },
  };
}

function meActions(show: (secret: string) => void): Action[] {
  const refused = fullScopeOnly();
  return [
    {
      title: "Create an API key",
      key: "c",
      button: "Create",
      fields: [
        { name: "description", label: "What it is for" },
        {
          name: "scope",
          label: "Scope",
          type: "choice",
          initial: "full",
          choices: [{ value: "full", label: "full" }, { value: "read_only", label: "read only" }],
        },
      ],
      refused,
      cli: ({ description = "", scope }) =>
        command([program(), "api-key", "create"], { "--description": description, "--scope": scope }),
      send: async ({ description, scope }, key) => {
        const made = await send<ApiKeyCreated>("POST", "/v1/auth/api-keys", { body: { description, scope }, key });
        show(made.secret);
        return { said: "The key is created" };
      },
    },
    {
      title: "Add an SSH key",
      button: "Add",
      fields: [
        { name: "name", label: "Name", initial: "laptop" },
        { name: "public_key", label: "Public key", type: "lines", hint: `One line, as in ${KEY_FILE}` },
      ],
      refused,
      // The path has no quotes, because a shell does not expand a quoted `~`.
      cli: ({ name }) =>
        `${command(["tenantctl", "ssh-key", "create"], { "--name": name || "NAME" })} --public-key-file ${KEY_FILE}`,
      send: async ({ name, public_key = "" }, key) => {
        await send("POST", "/v1/auth/ssh-keys", { body: { name, public_key: public_key.trim() }, key });
      },
    },
    {
      title: "Change the password",
      button: "Change",
      fields: [
        { name: "current_password", label: "Current password", type: "secret" },
        { name: "password", label: "New password", type: "secret" },
      ],
      refused,
      // tenantctl has no command that changes a password.
      cli: () => isOperator() ? command(["opsctl", "user", "set-password", me.value?.username ?? "USER"]) : "",
      send: async (values, key) => {
        await send("POST", "/v1/auth/password", {
          body: { current_password: values["current_password"], password: values["password"] },
          key,
        });
      },
    },
  ];
}

function removeKey({ id, description }: ApiKeyView): Action {
  return {
    title: `Revoke ${description}`,
    button: "Revoke",
    isDangerous: true,
    notice: "Programs that use the key stop working at once.",
    refused: fullScopeOnly(),
    cli: () => command([program(), "api-key", "delete", id]),
    send: async (_, key) => {
      await send("DELETE", `/v1/auth/api-keys/${id}`, { key });
    },
  };
}
