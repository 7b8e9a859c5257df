// Handles a machine from its first AMQP message to the end of its setup. Announces the machine to the control plane.
// When the setup is approved and the machine is connected, fetches the setup bundle and sends the setup script.
// Forwards the machine's reports to the control plane with the run's epoch.
import type { Buffer } from "node:buffer";
import { randomBytes, randomUUID } from "node:crypto";
import type { BootConsolePort } from "../../src/contract/enums.ts";
import type { SetupBundle } from "../../src/contract/setup.ts";
import { redactSysinfo } from "../../src/lib/text/redact-sysinfo.ts";
import { macsOf } from "../../src/lib/net/sysinfo-macs.ts";
import type { AmqpListener, AmqpPeer } from "../amqp/listener.ts";
import type { Counters } from "../counters.ts";
import type { Log } from "../log.ts";
import { type ApiClient, ApiFault, callFailure, isRefusal, type SetupReport } from "../api-client/client.ts";
import { arrived, maySend, newSending, requestOf, type Sending, sha256, storeScript } from "./delivery.ts";
import type { Delivered, Ledger, Run } from "./ledger.ts";
import { agentKey, objectOf, setupMessage } from "./message.ts";
import { announceBody, BARE, hasJustStarted, type Machine, newMachine } from "./machine.ts";
import { type Relayed, relayReport } from "./relay.ts";
import { endingReason } from "./report.ts";
import { setupValues, type ValueParts } from "./values.ts";

export type EnrolmentOptions = {
  readonly api: ApiClient;
  readonly ledger: Ledger;
  /** Null if the configuration has no [ur.setup]. Machines are then announced, but never set up. */
  readonly setup: ValueParts["setup"] | null;
  readonly consoleOf: (address: string) => Promise<BootConsolePort>;
  readonly originFor: (address: string) => string;
  /** Returns the origins of the other booters that the machine at this address can reach. */
  readonly peersFor: (address: string) => readonly string[];
  readonly counters: Counters;
  readonly log: Log;
};

export type SetupCaller = { readonly token: string; readonly address: string };

export type Enrolment = AmqpListener & {
  /** Announces waiting machines, starts approved setups and repeats undelivered failure reports. Never rejects. */
  pass(): Promise<void>;
  /**
   * Returns the values of the setup run with the caller's token. Returns null in these cases:
   * - The configuration has no [ur.setup], or no run of this booter has the token.
   * - The caller is not the run's machine.
   * - The booter has already relayed a report of the run.
   * - The setup was approved again, or the booter has sent the script again with another token.
   */
  values(caller: SetupCaller): Promise<string | null>;
  report(caller: SetupCaller, report: SetupReport): Promise<Relayed>;
  /** Returns the number of connected machines. */
  machines(): number;
};

export function openEnrolment(options: EnrolmentOptions): Enrolment {
  const { api, ledger, setup, consoleOf, originFor, peersFor, counters, log } = options;
  const machines = new Map<string, Machine>();
  const bundles = new Map<string, SetupBundle>();
  /** The connection over which the newest script of a run was sent. */
  const sent = new Map<string, AmqpPeer>();

  function machineOf(server_uuid: string, peer: AmqpPeer): Machine {
    const known = machines.get(server_uuid);
    if (known !== undefined && known.peer === peer) return known;
    const made = newMachine(server_uuid, peer);
    machines.set(server_uuid, made);
    return made;
  }

  function published(key: string, body: Buffer, peer: AmqpPeer): void {
    const topic = agentKey(key);
    if (topic === null) return;
    const content = objectOf(body);
    if (content === null) return;
    const { server_uuid } = topic;
    if (topic.kind === "reply" && topic.request.startsWith("setup-")) {
      return void ended(topic, content, peer).catch(reportError(server_uuid));
    }
    if (typeof content.UUID !== "string" || content.UUID.toLowerCase() !== server_uuid) return;
    // A login belongs to one MAC address. An inventory without this address belongs to another machine.
    if (!macsOf(content).includes(peer.mac)) {
      counters.count("announce_refused_total", { reason: "other_machine" });
      return log("announce.refused", { server_uuid, mac: peer.mac, reason: "its inventory does not have this port" });
    }
    const machine = machineOf(server_uuid, peer);
    // The machine's agent sends `startup` once after every start. The control plane verifies the sender when the booter
    // announces the machine.
    if (topic.kind === "startup") {
      machine.started_ms = performance.now();
      if ((ledger.of(server_uuid)?.delivered ?? null) !== null) machine.restarted = true;
    }
    machine.sysinfo = redactSysinfo(content) as Record<string, unknown>;
    void visit(machine);
  }

  const reportError = (server_uuid: string) => (error: unknown) => {
    counters.count("enrolment_errors_total");
    log("enrolment.error", { server_uuid, error: messageOf(error) });
  };

  async function visit(machine: Machine): Promise<void> {
    if (machine.busy || machine.sysinfo === null) return;
    machine.busy = true;
    try {
      await announce(machine, machine.sysinfo);
      if (machine.state === "setting_up" && machine.listening && setup !== null) await startSetup(machine);
    } catch (error) {
      reportError(machine.server_uuid)(error);
    } finally {
      machine.busy = false;
    }
    // A start that is not announced yet needs another visit: the machine started during this visit, or this visit
    // removed the run because another booter has begun a later run.
    if (hasJustStarted(machine, ledger) && machines.get(machine.server_uuid) === machine) await visit(machine);
  }

  async function announce(machine: Machine, sysinfo: Record<string, unknown>): Promise<void> {
    const { server_uuid, peer } = machine;
    const before = machine.state;
    const run = ledger.of(server_uuid);
    // A machine that logs in here booted from this booter, because a booter accepts only logins that it created. So if
    // another booter had begun a run, the restart has stopped the script of that run. A start is announced at most
    // once.
    const started = hasJustStarted(machine, ledger);
    if (started) machine.started_ms = null;
    try {
      const { state } = await api.announce(announceBody(machine, sysinfo, started));
      machine.state = state;
      if (machine.restarted && run !== null) {
        const sent = await failed(server_uuid, "the machine restarted before its setup ended");
        machine.restarted = false;
        // Another booter may have begun a later run, which this restart interrupted too.
        if (sent === "stale" && hasJustStarted(machine, ledger)) return await announce(machine, sysinfo);
        machine.state = "awaiting_setup";
      }
      machine.restarted = false;
      // The script was delivered earlier, and the node is again in awaiting_setup: the run ended without success.
      if (state === "awaiting_setup" && run !== null && run.delivered !== null) await finish(server_uuid);
      if (before !== state) log("announce.accepted", { server_uuid, mac: peer.mac, state });
    } catch (error) {
      machine.state = null;
      counters.count("announce_refused_total", { reason: callFailure(error) });
      log("announce.refused", { server_uuid, mac: peer.mac, reason: messageOf(error) });
      // 409: this is another machine. Closing its connection releases the identity for the right machine.
      if (error instanceof ApiFault && error.status === 409) peer.drop();
    }
  }

  async function startSetup(machine: Machine): Promise<void> {
    const { server_uuid, peer } = machine;
    const before = ledger.of(server_uuid);
    // The script was already sent over this connection, or must not be repeated.
    if (before !== null && before.delivered !== null && (sent.get(server_uuid) === peer || !maySend(before))) return;
    const run: Run = before ?? { server_uuid, idempotency_key: `setup-${randomUUID()}`, delivered: null };
    if (before === null) await ledger.write(run);
    let bundle: SetupBundle;
    try {
      bundle = await api.bundle(server_uuid, run.idempotency_key);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      // The run's idempotency key gets no bundle any more: the bundle was fetched with another key, or the setup is no
      // longer approved.
      await ledger.remove(server_uuid);
      return log("bundle.refused", { server_uuid, reason: error.message });
    }
    // The bundle lists the node's MAC addresses. The idempotency key is kept for the machine that has one of them.
    if (!(bundle.macs ?? []).includes(peer.mac)) {
      counters.count("bundles_refused_total", { reason: "other_machine" });
      log("bundle.refused", { server_uuid, mac: peer.mac, reason: "this port is not the node's" });
      return peer.drop();
    }
    // If the machine has disconnected, the booter can fetch the bundle again later with the stored idempotency key.
    if (!machine.listening || machines.get(server_uuid) !== machine) return;
    await deliver(machine, bundle);
  }

  async function deliver(machine: Machine, bundle: SetupBundle): Promise<void> {
    const { server_uuid, peer } = machine;
    let sending: Sending | null = null;
    // Writes the run before it sends the script, so that the booter knows the script's token after a restart.
    await ledger.update(server_uuid, (run) => (sending = newSending(run, bundle.epoch, peer))?.run ?? null);
    if (sending === null) return;
    const { delivered, token }: Sending = sending;
    const refusal = await storeScript(api, server_uuid, delivered);
    if (refusal !== null) {
      // The machine already runs a script from another booter, or the run has ended.
      log("setup.not_sent", { server_uuid, mac: peer.mac, reason: refusal });
      return await finish(server_uuid);
    }
    if (!machine.listening || machines.get(server_uuid) !== machine) {
      // The machine disconnected meanwhile. It may have connected again and got a newer script. The call above may then
      // have replaced the newer script at the control plane. So this call stores the newest script again.
      return void await storeScript(api, server_uuid, ledger.of(server_uuid)?.delivered ?? delivered);
    }
    bundles.set(server_uuid, bundle);
    sent.set(server_uuid, peer);
    counters.count("bundles_shipped_total");
    const queues = peer.deliver(
      `ur.execute.${server_uuid}.${requestOf(delivered)}`,
      setupMessage({ own: originFor(peer.address), peers: peersFor(peer.address) }, token),
      () =>
        void ledger.update(server_uuid, (run) => arrived(run, delivered.token_sha256)).catch(reportError(server_uuid)),
    );
    if (queues === 0) return void await failed(server_uuid, "the machine left before its setup began");
    log("setup.shipped", { server_uuid, mac: peer.mac, epoch: bundle.epoch, delivery: delivered.deliveries });
  }

  async function ended(
    { server_uuid, request }: { readonly server_uuid: string; readonly request: string },
    reply: Record<string, unknown>,
    peer: AmqpPeer,
  ): Promise<void> {
    const run = ledger.of(server_uuid);
    // A run whose end was reported is already removed. Only the machine that got the script may report its end.
    if (run === null || run.delivered === null || request !== requestOf(run.delivered)) return;
    if (run.delivered.mac !== peer.mac) return void counters.count("setup_ends_refused_total");
    await failed(server_uuid, endingReason(reply));
  }

  async function failed(server_uuid: string, reason: string): Promise<Relayed> {
    const run = ledger.of(server_uuid);
    if (run === null || run.delivered === null) return "unknown";
    await ledger.write({ ...run, delivered: { ...run.delivered, failure: reason } });
    return await relay(run.server_uuid, { kind: "failed", reason });
  }

  async function relay(server_uuid: string, report: SetupReport): Promise<Relayed> {
    const run = ledger.of(server_uuid);
    if (run === null || run.delivered === null) return "unknown";
    const { delivered } = run;
    // Writes the run before it sends the report, because the booter must not serve values after the first report.
    if (!delivered.reported) await ledger.write({ ...run, delivered: { ...delivered, reported: true } });
    const { epoch, mac } = delivered;
    const relayed = await relayReport({ server_uuid, epoch, mac }, report, { api, counters, log });
    const has_ended = relayed === "stale" || (relayed === "taken" && report.kind !== "progress");
    if (has_ended) await finish(server_uuid);
    return relayed;
  }

  async function finish(server_uuid: string): Promise<void> {
    bundles.delete(server_uuid);
    sent.delete(server_uuid);
    await ledger.remove(server_uuid);
  }

  /** Returns the run with this token if the request comes from the address of the run's machine. */
  function runOf({ token, address }: SetupCaller): (Run & { readonly delivered: Delivered }) | null {
    const hash = sha256(token);
    const run = ledger.all().find(({ delivered }) => delivered !== null && delivered.token_sha256 === hash);
    return run !== undefined && run.delivered?.address === address ? { ...run, delivered: run.delivered } : null;
  }

  return {
    ready(server_uuid, peer) {
      const machine = machineOf(server_uuid, peer);
      machine.listening = true;
      counters.count("machines_ready_total");
      // Asks for the inventory, because an earlier answer may have been lost with an earlier connection.
      peer.deliver(`ur.broadcast.sysinfo.${randomBytes(8).toString("hex")}`, "{}");
      void visit(machine);
    },
    gone(server_uuid, peer) {
      const machine = machines.get(server_uuid);
      if (machine === undefined || machine.peer !== peer) return;
      machine.listening = false;
      machines.delete(server_uuid);
    },
    published,
    async pass() {
      for (const { server_uuid, delivered } of ledger.all()) {
        if (delivered !== null && delivered.failure !== null) {
          await relay(server_uuid, { kind: "failed", reason: delivered.failure }).catch(() => "away");
        }
      }
      const waiting = [...machines.values()].filter(({ state }) => state === null || BARE.has(state));
      await Promise.all(waiting.map((each) => visit(each)));
    },
    async values(caller) {
      const run = runOf(caller);
      if (run === null || setup === null || run.delivered.reported) return null;
      const bundle = bundles.get(run.server_uuid) ?? await api.bundle(run.server_uuid, run.idempotency_key);
      if (bundle.epoch !== run.delivered.epoch) return null;
      bundles.set(run.server_uuid, bundle);
      // Stores the arrival before the values are served. Null means that the booter has sent the script again with
      // another token, or that the run has ended.
      const { token_sha256 } = run.delivered;
      if (await ledger.update(run.server_uuid, (now) => arrived(now, token_sha256)) === null) return null;
      const { address } = caller;
      return setupValues({ setup, bundle, console: await consoleOf(address), origin: originFor(address) });
    },
    async report(caller, report) {
      const run = runOf(caller);
      return run === null ? "unknown" : await relay(run.server_uuid, report);
    },
    machines: () => [...machines.values()].filter(({ listening }) => listening).length,
  };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
