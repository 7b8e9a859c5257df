// Tests that the QEMU driver behaves as every driver must. No test waits until a guest has booted.
import { driverContract } from "../nodeagent/driver-contract.ts";
import { needsMachine, openMachine } from "./machine.ts";

driverContract("qemu", () => openMachine({ halt_wait_ms: 500 }), needsMachine);
