// Remembers two values of each machine's last DISCOVER. One is the client, because some clients do not identify
// themselves in their REQUEST (rpi-eeprom #82). The other is the xid, which is part of the boot script's URL. After
// TRANSACTIONS_MAX machines, the oldest entry is dropped.
import { TRANSACTIONS_MAX } from "../limits.ts";
import type { DhcpClient } from "./client.ts";

export type Transaction = { readonly xid: number; readonly client: DhcpClient };

export type Transactions = {
  discovered(mac: string, transaction: Transaction): void;
  last(mac: string): Transaction | null;
};

export function newTransactions(max = TRANSACTIONS_MAX): Transactions {
  const kept = new Map<string, Transaction>();
  return {
    discovered(mac, transaction) {
      kept.delete(mac);
      if (kept.size >= max) kept.delete(kept.keys().next().value!);
      kept.set(mac, transaction);
    },
    last: (mac) => kept.get(mac) ?? null,
  };
}
