// The QEMU driver behaves as every driver does. Its guest has no operating system: no test here needs a boot to finish.
import { driverContract } from "../nodeagent/driver-contract.ts";
import { needsMachine, openMachine } from "./machine.ts";

driverContract("qemu", () => openMachine({ halt_wait_ms: 500 }), needsMachine);
