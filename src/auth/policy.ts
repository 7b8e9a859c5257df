// The permissions: a table from action to rule, read by authorization.ts. The scope of a key is checked before the
// permissions of its owner, so a scoped key of root is limited to its scope.
import type { Capability, KeyScope } from "../contract/enums.ts";

export type Rule = {
  /**
   * The callers who may perform the action. Root satisfies every rule except node.
   * - anyone: no credential needed
   * - user: every user
   * - root: root operators
   * - node: a key that is bound to a node
   * - tenant: members of the object's tenant
   * - silo: members of any tenant of the object's silo, if they have the capability silo-admin. A silo is one customer
   *   and its tenants are departments, so other members act only in their own tenant.
   * - silo_tenant: callers that satisfy tenant or silo
   * - viewer: callers who may see the image or SSH key (visibility.ts)
   * - visitor: viewers, and everybody when the scope is public
   * - owner: callers who may see and change the image or SSH key (visibility.ts)
   * - operator: users with system-operate, on objects of any tenant, and members of the object's tenant; the route
   *   limits what each of them may do
   * - a capability: users who have it
   */
  readonly who:
    | "anyone"
    | "user"
    | "root"
    | "node"
    | "silo"
    | "silo_tenant"
    | "tenant"
    | "visitor"
    | "viewer"
    | "owner"
    | "operator"
    | Capability;
  /** The key scopes that include the action. */
  readonly scopes: readonly KeyScope[];
  /**
   * How an authenticated caller without permission is refused: `forbid` with a 403 that names the action, `hide` with a
   * 404.
   */
  readonly denied: "forbid" | "hide";
  /** Whether users with system-read may perform the action, too, on objects of any tenant. */
  readonly observed?: true;
};

const FULL: readonly KeyScope[] = ["full"];
const READ: readonly KeyScope[] = ["full", "read_only"];
const AUDIT: readonly KeyScope[] = ["full", "read_only", "audit_only"];
const ALL: readonly KeyScope[] = ["full", "read_only", "audit_only", "agent", "booter", "ur_enroll"];
const AGENT: readonly KeyScope[] = ["agent"];
/** The key scopes for a booter's actions. A full key of a root operator may perform them, too. */
const BOOTER: readonly KeyScope[] = ["full", "booter"];
const ANNOUNCE: readonly KeyScope[] = ["full", "booter", "ur_enroll"];
const BOOT_READ: readonly KeyScope[] = ["full", "read_only", "booter"];

const OF_SILO_READ = { who: "silo", scopes: READ, denied: "hide" } as const;
const OF_SILO = { who: "silo", scopes: FULL, denied: "hide" } as const;
const OF_TENANT_READ = { who: "tenant", scopes: READ, denied: "hide" } as const;
const OBSERVED_READ = { ...OF_TENANT_READ, observed: true } as const;
const OF_TENANT = { who: "tenant", scopes: FULL, denied: "hide" } as const;

/** Rules for images and SSH keys: 404 for callers who may not see the record, 403 for callers who may only see it. */
const OF_SCOPE_READ = { who: "viewer", scopes: READ, denied: "hide" } as const;
const OF_SCOPE = { who: "owner", scopes: FULL, denied: "forbid" } as const;
const IN_SCOPE = { who: "owner", scopes: FULL, denied: "hide" } as const;

export const POLICY = {
  Health: { who: "anyone", scopes: ALL, denied: "forbid" },
  ApiDescription: { who: "anyone", scopes: ALL, denied: "forbid" },
  WebConsole: { who: "anyone", scopes: ALL, denied: "forbid" },
  ImageIndex: { who: "anyone", scopes: ALL, denied: "forbid" },
  AgentRegister: { who: "anyone", scopes: ALL, denied: "forbid" },
  AgentRegisterStatus: { who: "anyone", scopes: ALL, denied: "forbid" },
  LabSignInLink: { who: "root", scopes: FULL, denied: "forbid" },
  LabClock: { who: "anyone", scopes: ALL, denied: "forbid" },

  Whoami: { who: "user", scopes: ALL, denied: "forbid" },
  Search: { who: "user", scopes: READ, denied: "forbid" },
  ChangesList: { who: "user", scopes: READ, denied: "forbid" },
  ApiKeyList: { who: "user", scopes: READ, denied: "forbid" },
  CreateApiKey: { who: "user", scopes: FULL, denied: "forbid" },
  DeleteApiKey: { who: "user", scopes: FULL, denied: "forbid" },

  WebSessionOpen: { who: "anyone", scopes: ALL, denied: "forbid" },
  OidcSignIn: { who: "anyone", scopes: ALL, denied: "forbid" },
  Login: { who: "anyone", scopes: ALL, denied: "forbid" },
  Refresh: { who: "anyone", scopes: ALL, denied: "forbid" },
  Logout: { who: "user", scopes: ALL, denied: "forbid" },
  SessionList: { who: "user", scopes: READ, denied: "forbid" },
  SessionEnd: { who: "user", scopes: FULL, denied: "forbid" },
  ChangePassword: { who: "user", scopes: FULL, denied: "forbid" },

  // Users who lack the capability get 404.
  SystemRead: { who: "system-read", scopes: READ, denied: "hide" },
  SystemConfigWrite: { who: "system-config-write", scopes: FULL, denied: "hide" },
  UserCreate: { who: "system-operate", scopes: FULL, denied: "hide" },
  UserDelete: { who: "system-operate", scopes: FULL, denied: "hide" },
  UserPassword: { who: "system-operate", scopes: FULL, denied: "hide" },
  UserCapability: { who: "system-operate", scopes: FULL, denied: "hide" },
  MetricsRead: { who: "root", scopes: READ, denied: "forbid" },

  CnApprove: { who: "root", scopes: FULL, denied: "forbid" },
  CnDisable: { who: "root", scopes: FULL, denied: "forbid" },
  CnEnable: { who: "root", scopes: FULL, denied: "forbid" },
  CnSetUnderlay: { who: "root", scopes: FULL, denied: "forbid" },
  CnSetRole: { who: "root", scopes: FULL, denied: "forbid" },
  CnSetReservoir: { who: "root", scopes: FULL, denied: "forbid" },
  CnTraitsGet: { who: "system-read", scopes: READ, denied: "forbid" },
  CnTraitsSet: { who: "root", scopes: FULL, denied: "forbid" },
  CnPlacementGet: { who: "system-read", scopes: READ, denied: "forbid" },
  CnPlacementSet: { who: "root", scopes: FULL, denied: "forbid" },
  CnDrain: { who: "root", scopes: FULL, denied: "forbid" },
  CnUpgrade: { who: "root", scopes: FULL, denied: "forbid" },
  CnEvacuate: { who: "root", scopes: FULL, denied: "forbid" },
  CnDrainPreview: { who: "system-read", scopes: READ, denied: "forbid" },
  CnRootPassword: { who: "root", scopes: FULL, denied: "forbid" },
  CnSetupPropose: { who: "system-read", scopes: READ, denied: "forbid" },
  CnSetupApprove: { who: "root", scopes: FULL, denied: "forbid" },
  CnFactoryReset: { who: "root", scopes: FULL, denied: "forbid" },
  CnRemove: { who: "root", scopes: FULL, denied: "forbid" },
  CnBootList: { who: "system-read", scopes: BOOT_READ, denied: "forbid" },
  CnBootAuthorize: { who: "root", scopes: FULL, denied: "forbid" },
  CnBootReactivate: { who: "root", scopes: FULL, denied: "forbid" },
  CnBootRescue: { who: "root", scopes: FULL, denied: "forbid" },
  CnBootAssign: { who: "root", scopes: FULL, denied: "forbid" },
  CnBootDecommission: { who: "root", scopes: FULL, denied: "forbid" },
  CnBootPolicyGet: { who: "system-read", scopes: BOOT_READ, denied: "forbid" },
  CnBootPolicySet: { who: "root", scopes: FULL, denied: "forbid" },
  CnBootRosterGet: { who: "system-read", scopes: BOOT_READ, denied: "forbid" },
  CnBootRosterSet: { who: "root", scopes: FULL, denied: "forbid" },
  PlatformImageList: { who: "system-read", scopes: BOOT_READ, denied: "forbid" },
  PlatformImageStage: { who: "root", scopes: BOOTER, denied: "forbid" },
  BooterSeen: { who: "root", scopes: BOOTER, denied: "forbid" },
  CnAnnounce: { who: "root", scopes: ANNOUNCE, denied: "forbid" },
  BooterBundle: { who: "root", scopes: BOOTER, denied: "forbid" },
  BooterReport: { who: "root", scopes: BOOTER, denied: "forbid" },
  AutoApproveGet: { who: "system-read", scopes: READ, denied: "forbid" },
  AutoApproveSet: { who: "root", scopes: FULL, denied: "forbid" },
  AutoApproveClear: { who: "root", scopes: FULL, denied: "forbid" },
  ConfigGet: { who: "system-read", scopes: READ, denied: "forbid" },
  ConfigSet: { who: "root", scopes: FULL, denied: "forbid" },
  ConfigReset: { who: "root", scopes: FULL, denied: "forbid" },
  AuditList: { who: "system-read", scopes: AUDIT, denied: "forbid" },
  AuditVerify: { who: "system-read", scopes: AUDIT, denied: "forbid" },
  TenantAuditList: { who: "tenant", scopes: AUDIT, denied: "hide", observed: true },
  // Members of a tenant see the operations on the tenant's objects.
  OperationsList: { who: "tenant", scopes: READ, denied: "forbid", observed: true },
  OperationsGet: OBSERVED_READ,
  OperationsAbandon: { who: "root", scopes: FULL, denied: "forbid" },

  SiloList: { who: "system-read", scopes: READ, denied: "forbid" },
  GetSilo: { who: "system-read", scopes: READ, denied: "forbid" },
  CreateSilo: { who: "root", scopes: FULL, denied: "forbid" },
  SiloUpdate: { who: "root", scopes: FULL, denied: "forbid" },
  SiloDelete: { who: "root", scopes: FULL, denied: "forbid" },
  TenantList: { ...OF_SILO_READ, observed: true },
  TenantGet: { who: "silo_tenant", scopes: READ, denied: "hide", observed: true },
  TenantCreate: OF_SILO,
  TenantUpdate: OF_SILO,
  TenantDelete: OF_SILO,
  TenantIdpGet: { who: "root", scopes: READ, denied: "forbid" },
  TenantIdpSet: { who: "root", scopes: FULL, denied: "forbid" },
  TenantIdpDelete: { who: "root", scopes: FULL, denied: "forbid" },
  TenantKeyList: OF_TENANT_READ,
  TenantKeyCreate: OF_TENANT,
  TenantKeyDelete: OF_TENANT,
  ProjectList: OBSERVED_READ,
  ProjectGet: OBSERVED_READ,
  ProjectCreate: OF_TENANT,
  ProjectUpdate: OF_TENANT,
  ProjectDelete: OF_TENANT,
  QuotaGet: OBSERVED_READ,
  UsageGet: OBSERVED_READ,
  // A tenant must not raise its own quota.
  QuotaSet: { who: "root", scopes: FULL, denied: "hide" },
  QuotaDelete: { who: "root", scopes: FULL, denied: "hide" },

  VpcList: OF_TENANT_READ,
  VpcGet: OF_TENANT_READ,
  VpcCreate: OF_TENANT,
  VpcUpdate: OF_TENANT,
  VpcDelete: OF_TENANT,
  SubnetList: OF_TENANT_READ,
  SubnetGet: OF_TENANT_READ,
  SubnetCreate: OF_TENANT,
  SubnetUpdate: OF_TENANT,
  SubnetDelete: OF_TENANT,
  NatGatewayList: OF_TENANT_READ,
  NatGatewayGet: OF_TENANT_READ,
  NatGatewayCreate: OF_TENANT,
  NatGatewayUpdate: OF_TENANT,
  NatGatewayDelete: OF_TENANT,
  FloatingIpList: OF_TENANT_READ,
  FloatingIpGet: OF_TENANT_READ,
  FloatingIpCreate: OF_TENANT,
  FloatingIpUpdate: OF_TENANT,
  FloatingIpDelete: OF_TENANT,
  FloatingIpAttach: OF_TENANT,
  FloatingIpDetach: OF_TENANT,
  RouteTableList: OF_TENANT_READ,
  RouteTableGet: OF_TENANT_READ,
  RouteTableCreate: OF_TENANT,
  RouteTableUpdate: OF_TENANT,
  RouteTableDelete: OF_TENANT,
  RouteList: OF_TENANT_READ,
  RouteGet: OF_TENANT_READ,
  RouteCreate: OF_TENANT,
  RouteUpdate: OF_TENANT,
  RouteDelete: OF_TENANT,
  FirewallRuleList: OF_TENANT_READ,
  FirewallRuleGet: OF_TENANT_READ,
  FirewallRuleCreate: OF_TENANT,
  FirewallRuleUpdate: OF_TENANT,
  FirewallRuleDelete: OF_TENANT,
  FirewallRuleReplace: OF_TENANT,
  PortForwardList: OF_TENANT_READ,
  PortForwardGet: OF_TENANT_READ,
  PortForwardCreate: OF_TENANT,
  PortForwardUpdate: OF_TENANT,
  PortForwardDelete: OF_TENANT,

  InstanceList: OF_TENANT_READ,
  InstanceGet: OBSERVED_READ,
  InstanceCreate: OF_TENANT,
  InstanceUpdate: OF_TENANT,
  InstanceStart: OF_TENANT,
  InstanceStop: OF_TENANT,
  InstanceRestart: OF_TENANT,
  InstanceReset: { who: "operator", scopes: FULL, denied: "hide" },
  InstanceMigrate: { who: "operator", scopes: FULL, denied: "hide" },
  // The list names nodes, which only operators see.
  MigrationList: { who: "root", scopes: READ, denied: "hide" },
  InstanceRetry: OF_TENANT,
  InstanceRebuild: OF_TENANT,
  InstanceConsole: OF_TENANT,
  // The ticket is the credential, since a browser sends no other with a WebSocket.
  InstanceConsoleOpen: { who: "anyone", scopes: ALL, denied: "forbid" },
  InstanceConsoleList: OF_TENANT_READ,
  InstanceConsoleLog: OF_TENANT_READ,
  InstanceScreenshot: { who: "operator", scopes: READ, denied: "hide" },
  InstanceMetrics: OF_TENANT_READ,
  InstanceLoad: OF_TENANT_READ,
  InstanceDelete: { who: "operator", scopes: FULL, denied: "hide" },
  DiskList: OBSERVED_READ,
  DiskGet: OBSERVED_READ,
  DiskResize: OF_TENANT,
  DiskCreate: OF_TENANT,
  DiskAttach: OF_TENANT,
  DiskDetach: OF_TENANT,
  DiskDelete: OF_TENANT,
  SnapshotList: OBSERVED_READ,
  SnapshotGet: OBSERVED_READ,
  SnapshotCreate: OF_TENANT,
  SnapshotDelete: OF_TENANT,
  NicList: OBSERVED_READ,
  NicGet: OBSERVED_READ,
  NicCreate: OF_TENANT,
  NicUpdate: OF_TENANT,
  NicDelete: OF_TENANT,

  ImageListPublic: { who: "anyone", scopes: ALL, denied: "forbid" },
  ImageGet: { who: "visitor", scopes: READ, denied: "hide" },
  ImageCreatePublic: { who: "root", scopes: FULL, denied: "forbid" },
  ImageList: OF_SCOPE_READ,
  ImageCreate: IN_SCOPE,
  ImageUpdate: OF_SCOPE,
  ImageDelete: OF_SCOPE,
  ImageUpload: OF_TENANT,
  ImageUploadGet: OF_TENANT_READ,
  ImageUploadPart: OF_TENANT,
  ImageUploadFinish: OF_TENANT,
  ImageUploadCancel: OF_TENANT,
  SshKeyListPublic: { who: "anyone", scopes: ALL, denied: "forbid" },
  SshKeyGet: { who: "visitor", scopes: READ, denied: "hide" },
  SshKeyCreatePublic: { who: "root", scopes: FULL, denied: "forbid" },
  SshKeyListOwn: { who: "user", scopes: READ, denied: "forbid" },
  SshKeyCreateOwn: { who: "user", scopes: FULL, denied: "forbid" },
  SshKeyList: OF_SCOPE_READ,
  SshKeyCreate: IN_SCOPE,
  SshKeyDelete: OF_SCOPE,

  AgentHeartbeat: { who: "node", scopes: AGENT, denied: "forbid" },
  AgentPoll: { who: "node", scopes: AGENT, denied: "forbid" },
  AgentStatus: { who: "node", scopes: AGENT, denied: "forbid" },
  CnCapacityReport: { who: "node", scopes: AGENT, denied: "forbid" },
  AgentConfig: { who: "node", scopes: AGENT, denied: "forbid" },
  AgentClaim: { who: "node", scopes: AGENT, denied: "forbid" },
  AgentImage: { who: "node", scopes: AGENT, denied: "forbid" },
  AgentConsole: { who: "node", scopes: AGENT, denied: "forbid" },
  AgentBlueprint: { who: "node", scopes: AGENT, denied: "forbid" },
  AgentProgress: { who: "node", scopes: AGENT, denied: "forbid" },
  AgentComplete: { who: "node", scopes: AGENT, denied: "forbid" },
  NetworkTrace: { who: "system-read", scopes: READ, denied: "hide" },
  NetworkTraceAnswer: { who: "node", scopes: AGENT, denied: "forbid" },
  NetworkPoll: { who: "node", scopes: AGENT, denied: "forbid" },
  NetworkRealizationReport: { who: "node", scopes: AGENT, denied: "forbid" },
  NicTagInventoryReport: { who: "node", scopes: AGENT, denied: "forbid" },
  AgentBury: { who: "node", scopes: AGENT, denied: "forbid" },
} as const satisfies Readonly<Record<string, Rule>>;

export type Action = keyof typeof POLICY;
