// Creates keys, tokens and other secrets, in the forms in which they are stored, delivered and shown.
import { Buffer } from "node:buffer";
import { createHash, createHmac, randomBytes } from "node:crypto";
import {
  CONSOLE_TICKET_BYTES,
  KEY_LOOKUP_CHARS,
  KEY_SECRET_CHARS,
  POLL_TOKEN_BYTES,
  TICKET_KEY_BYTES,
  VNI_MAX,
  VNI_MIN,
  VNI_TRIES_MAX,
  WEBHOOK_SECRET_BYTES,
} from "../contract/limits.ts";
import { formatApiKey } from "../lib/ids/api-key.ts";
import { derive, open, seal } from "./seal.ts";

/** Random bytes of a key's lookup id. Base64url encodes three bytes in four characters. */
const LOOKUP_BYTES = KEY_LOOKUP_CHARS * 3 / 4;
const UUID_BYTES = 16;
const DIGEST_KEY_BYTES = 32;
const SECRET_BYTES = KEY_SECRET_CHARS * 3 / 4;

/** The three keys that a node gets in addition to its API key, in hex. */
export type TicketKeys = {
  readonly console_ticket_key_hex: string;
  readonly imds_token_key_hex: string;
  readonly migrate_ticket_key_hex: string;
};

export type InstanceIdentity = {
  readonly instance_id: string;
  readonly tenant_id: string;
  readonly project_id: string;
};

export type Mint = ReturnType<typeof createMint>;

/** Returns the functions that create and open secrets with the server's secret. */
export function createMint(secret: Uint8Array) {
  /**
   * Derives an API key from the message id, so that a repeated request gets the same key and the stored reply need not
   * contain it.
   */
  function apiKey(msg_id: string) {
    const bytes = derive(secret, { purpose: "api-key", id: msg_id }, LOOKUP_BYTES + SECRET_BYTES);
    return keyOf(bytes);
  }

  /**
   * Creates a random API key for a node, with its ticket keys. Returns them sealed, and the hash of the API key's
   * secret. The sealed API key is deleted when the node first uses the key. From then on, only the node has the key.
   */
  function nodeKey(server_uuid: string, key: { readonly id: string; readonly user_id: string }) {
    const { text, lookup, secret_sha256 } = keyOf(randomBytes(LOOKUP_BYTES + SECRET_BYTES));
    const tickets: TicketKeys = {
      console_ticket_key_hex: randomBytes(TICKET_KEY_BYTES).toString("hex"),
      imds_token_key_hex: randomBytes(TICKET_KEY_BYTES).toString("hex"),
      migrate_ticket_key_hex: randomBytes(TICKET_KEY_BYTES).toString("hex"),
    };
    return {
      ...key,
      lookup,
      secret_sha256,
      sealed: seal(secret, text, { purpose: "pending-credential", id: server_uuid }),
      sealed_tickets: seal(secret, JSON.stringify(tickets), { purpose: "ticket-keys", id: server_uuid }),
    };
  }

  function openNodeKey(server_uuid: string, sealed: string): string {
    return open(secret, sealed, { purpose: "pending-credential", id: server_uuid });
  }

  function openTickets(server_uuid: string, sealed: string): TicketKeys {
    return JSON.parse(open(secret, sealed, { purpose: "ticket-keys", id: server_uuid }));
  }

  /** Derives the poll token of a registration: 32 hex characters. The record stores only the token's hash. */
  function pollToken(registration_id: string): string {
    return derive(secret, { purpose: "poll-token", id: registration_id }, POLL_TOKEN_BYTES).toString("hex");
  }

  /** Derives the ticket of a console session. The record stores only the ticket's hash. */
  function consoleTicket(msg_id: string): string {
    return derive(secret, { purpose: "console-ticket", id: msg_id }, CONSOLE_TICKET_BYTES).toString("base64url");
  }

  /** Derives the ticket that the source of a migration shows to the target. The ticket is never stored. */
  function migrationTicket(migration_id: string): string {
    return derive(secret, { purpose: "migration-ticket", id: migration_id }, TICKET_KEY_BYTES).toString("base64url");
  }

  /** Derives a UUID (version 8) from the message id, for an additional record that the request creates. */
  function idFrom(msg_id: string, label: string): string {
    const hex = derive(secret, { purpose: `id:${label}`, id: msg_id }, UUID_BYTES).toString("hex");
    return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20)].join(
      "-",
    );
  }

  /** Derives candidates for a VPC's VNI, in [VNI_MIN, VNI_MAX], from the message id. */
  function vnis(msg_id: string): readonly number[] {
    const bytes = derive(secret, { purpose: "vni", id: msg_id }, VNI_TRIES_MAX * 4);
    return Array.from(
      { length: VNI_TRIES_MAX },
      (_, n) => VNI_MIN + bytes.readUInt32BE(n * 4) % (VNI_MAX - VNI_MIN + 1),
    );
  }

  /** Seals the client secret of a tenant's issuer for the tenant's record. */
  function sealIdpSecret(tenant_id: string, text: string): string {
    return seal(secret, text, { purpose: "idp-secret", id: tenant_id });
  }

  function openIdpSecret(tenant_id: string, sealed: string): string {
    return open(secret, sealed, { purpose: "idp-secret", id: tenant_id });
  }

  /** Seals the state that a browser keeps in a cookie while its user signs in at an issuer. */
  function sealOidcSignIn(text: string): string {
    return seal(secret, text, { purpose: "oidc-sign-in", id: "" });
  }

  /** Throws an Error if this server's secret did not seal the text. */
  function openOidcSignIn(sealed: string): string {
    return open(secret, sealed, { purpose: "oidc-sign-in", id: "" });
  }

  /** Derives the secret of a webhook, so that a repeated request gets the same secret. */
  function webhookSecret(msg_id: string): string {
    return `whsec_${
      derive(secret, { purpose: "webhook-secret", id: msg_id }, WEBHOOK_SECRET_BYTES).toString("base64")
    }`;
  }

  /** Seals the secret of a webhook for the webhook's record. */
  function sealWebhookSecret(webhook_id: string, text: string): string {
    return seal(secret, text, { purpose: "webhook-secret", id: webhook_id });
  }

  function openWebhookSecret(webhook_id: string, sealed: string): string {
    return open(secret, sealed, { purpose: "webhook-secret", id: webhook_id });
  }

  /** Seals the cloud-init data of an instance, which may hold passwords, for the instance's record. */
  function sealUserData(instance_id: string, text: string): string {
    return seal(secret, text, { purpose: "user-data", id: instance_id });
  }

  function openUserData(instance_id: string, sealed: string): string {
    return open(secret, sealed, { purpose: "user-data", id: instance_id });
  }

  /**
   * Returns the HMAC by which the server recognizes its own VMs. A node writes the HMAC into an instance's VM, and
   * reports it with the VM.
   */
  function identityHmac({ instance_id, tenant_id, project_id }: InstanceIdentity): string {
    const key = derive(secret, { purpose: "instance-identity", id: "" }, DIGEST_KEY_BYTES);
    return createHmac("sha256", key).update([instance_id, tenant_id, project_id].join("\0")).digest("hex");
  }

  /** Derives the root password of an instance. The password is never stored. */
  function instanceRootPassword(instance_id: string): string {
    return derive(secret, { purpose: "instance-root-password", id: instance_id }, SECRET_BYTES).toString("base64url");
  }

  /**
   * Returns a digest that identifies a request body. The digest is keyed, because a plain hash would let an attacker
   * who reads the database guess a password in the body.
   */
  function bodyDigest(body: string): string {
    return createHmac("sha256", derive(secret, { purpose: "idempotency", id: "" }, DIGEST_KEY_BYTES)).update(body)
      .digest("hex");
  }

  return {
    sealIdpSecret,
    openIdpSecret,
    sealOidcSignIn,
    openOidcSignIn,
    webhookSecret,
    sealWebhookSecret,
    openWebhookSecret,
    sealUserData,
    openUserData,
    identityHmac,
    instanceRootPassword,
    bodyDigest,
    apiKey,
    nodeKey,
    openNodeKey,
    openTickets,
    pollToken,
    consoleTicket,
    migrationTicket,
    idFrom,
    vnis,
  };
}

function keyOf(bytes: Uint8Array) {
  const text = Buffer.from(bytes).toString("base64url");
  const lookup = text.slice(0, KEY_LOOKUP_CHARS);
  const key_secret = text.slice(KEY_LOOKUP_CHARS);
  return { text: formatApiKey(lookup, key_secret), lookup, secret_sha256: sha256Hex(key_secret) };
}

/** Returns the digest of the UTF-8 text in lower-case hex. */
export function sha256Hex(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
