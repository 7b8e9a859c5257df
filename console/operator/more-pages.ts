// Exports the pages, and the parts of pages, that operators seldom open. The build puts them into one file, which the
// browser loads after the first page, while it is idle or when one of them is opened.
export { AuditEventPage } from "./audit-event.tsx";
export { AuditVerificationPage } from "./audit-verification.tsx";
export { BootPolicyPage, RosterPage } from "./boot-policy.tsx";
export { BootRecords } from "./boot.tsx";
export { BootRecordPage } from "./boot-record.tsx";
export { Capacity } from "./capacity.tsx";
export { Doctor } from "./doctor.tsx";
export { Images } from "./images.tsx";
export { InstanceMigrations } from "./instance-migrations.tsx";
export { JobPage, Jobs } from "./jobs.tsx";
export { LabelDrain } from "./label-drain.tsx";
export { LabelUpgrade } from "./label-upgrade.tsx";
export { NetworkTracePage } from "./network-trace.tsx";
export { Networks } from "./networks.tsx";
export { NodeDrain } from "./node-drain.tsx";
export { NodeEvacuate } from "./node-evacuate.tsx";
export { NodeHardware } from "./node-hardware.tsx";
export { NodeLoadTab } from "./node-load.tsx";
export { FactoryReset, NodeSetup } from "./node-setup.tsx";
export { OperationOutcome } from "./operation-outcome.tsx";
export { Placement } from "./placement.tsx";
export { Settings } from "./settings.tsx";
export { TenantPage } from "./tenant.tsx";
export { Users } from "./users.tsx";
