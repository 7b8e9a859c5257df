// The schemas that the API's description shows by name.
import * as agent from "./agent.ts";
import * as apiKey from "./api-key.ts";
import * as boot from "./boot.ts";
import * as audit from "./audit.ts";
import * as cn from "./cn.ts";
import { ErrorBody, Health } from "./common.ts";
import { PlacedInstance } from "./instance.ts";
import * as operation from "./operation.ts";
import * as setup from "./setup.ts";
import * as setting from "./setting.ts";

export const namedSchemas = {
  ErrorBody,
  Health,
  CnView: cn.CnView,
  SetupProgress: cn.SetupProgress,
  CnApproval: cn.CnApproval,
  CnRoleBody: cn.CnRoleBody,
  CnReservoirBody: cn.CnReservoirBody,
  CnReservoirView: cn.CnReservoirView,
  AutoApproveBody: cn.AutoApproveBody,
  AutoApproveWindow: cn.AutoApproveWindow,
  Registration: agent.Registration,
  RegistrationView: agent.RegistrationView,
  RegisterStatusView: agent.RegisterStatusView,
  StatusReport: agent.StatusReport,
  CapacityReport: agent.CapacityReport,
  AgentConfig: agent.AgentConfig,
  CnConflict: cn.CnConflict,
  SetupApproval: setup.SetupApproval,
  SetupApproved: setup.SetupApproved,
  LayoutProposal: setup.LayoutProposal,
  SetupBundle: setup.SetupBundle,
  SetupProgressReport: setup.SetupProgressReport,
  SetupCompleteReport: setup.SetupCompleteReport,
  SetupFailedReport: setup.SetupFailedReport,
  AnnounceBody: setup.AnnounceBody,
  RootPasswordBody: setup.RootPasswordBody,
  Traits: setup.Traits,
  BootRecord: boot.BootRecord,
  Networking: boot.Networking,
  Aggregate: boot.Aggregate,
  Provenance: boot.Provenance,
  BootPolicy: boot.BootPolicy,
  AdminNetwork: boot.AdminNetwork,
  AllowlistEntry: boot.AllowlistEntry,
  RosterEntry: boot.RosterEntry,
  Convergence: boot.Convergence,
  StagedImage: boot.StagedImage,
  PlacedInstance,
  ApiKeyBody: apiKey.ApiKeyBody,
  ApiKeyView: apiKey.ApiKeyView,
  ApiKeyCreated: apiKey.ApiKeyCreated,
  Whoami: apiKey.Whoami,
  AuditEvent: audit.AuditEvent,
  AuditHead: audit.AuditHead,
  AuditPage: audit.AuditPage,
  AuditVerification: audit.AuditVerification,
  SettingBody: setting.SettingBody,
  SettingView: setting.SettingView,
  Reference: operation.Reference,
  OperationSummary: operation.OperationSummary,
  OperationStep: operation.OperationStep,
  OperationView: operation.OperationView,
};
