"""The arguments of a GKE cluster, from the plan alone: pure functions.

Choices that are not obvious:

- Who reaches the API server. `control_plane_cidrs` is the whole answer, on every endpoint. Given ranges are the authorized
  networks, enforced on the private endpoint too; addresses of other Google customers' machines are shut out; the DNS endpoint,
  which knows IAM but no ranges, is closed to users. If every range is private, the public endpoint goes. With no ranges everyone
  may, which is said in so many words (0.0.0.0/0): leaving the block out would leave an old list standing, since the provider
  reads it back as computed.
- Dataplane V2 brings network policies, so no add-on does.
- Autoscaling profile OPTIMIZE_UTILIZATION: an idle GPU node costs dollars an hour, the profile removes it sooner and packs pods.
- Metrics and logs of the control plane go to Google's monitoring, since nobody else can read them. Managed Prometheus stays off:
  the fleet brings Prometheus of its own, and samples taken twice are paid twice.
- Security posture BASIC audits workloads' configuration. Vulnerability scanning is not asked for: the standard tier ended
  2025-07-31, the other's results 2026-06-16 (GKE page "Vulnerability scanning removal", read 2026-11-21).
- Intranode visibility: pods of one node talk through the VPC, so its firewall and flow logs see them as they see all others.
- The default pool is made and removed by the provider. It runs as the nodes' own account, for a project may have no default one,
  and on a small disk. `nodeConfig` and `initialNodeCount` then show some later pool's values and are ignored (Google's
  cluster-toolkit 1047080, 2026-06-25, ignores the first; both force replacement).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pulumi
import pulumi_gcp as gcp

from components.base import tags
from components.contract import ClusterArgs
from components.gke_identity import NODE_SCOPES
from components.gke_labels import to_resource_labels
from components.gke_network import PODS_RANGE, SERVICES_RANGE
from fleet.naming import NameKind, cloud_name
from fleet.records import ClusterPlan, MaintenanceWindow

CLUSTER_IGNORES = ("initialNodeCount", "nodeConfig")

_EVERYONE = "0.0.0.0/0"
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_SOME_MONDAY = datetime(2026, 1, 5, tzinfo=UTC)
"""Windows recur from the week of this Monday: a fixed date, so that no preview depends on the day it is run."""
_PASSING_DISK_GB = 20


@dataclass(frozen=True, kw_only=True, slots=True)
class ClusterRefs:
    """What a cluster needs to know of resources made before it.

    Attributes:
        network: The VPC's id.
        subnetwork: The subnetwork's id.
        node_account: Address of the nodes' service account.
        workload_pool: Workload identity pool.
    """

    network: pulumi.Input[str]
    subnetwork: pulumi.Input[str]
    node_account: pulumi.Input[str]
    workload_pool: pulumi.Input[str]


def cluster_name(plan: ClusterPlan) -> str:
    """Return the cluster's name in Google Cloud."""
    return cloud_name(NameKind.GKE_CLUSTER, plan.name)


def to_cluster_args(args: ClusterArgs, refs: ClusterRefs) -> gcp.container.ClusterArgs:
    """Return the cluster without its node pools."""
    plan = args.plan
    return gcp.container.ClusterArgs(
        name=cluster_name(plan),
        description=f"GPU cluster of site {plan.site}",
        project=plan.account,
        location=plan.region,
        node_locations=list(plan.zones) or None,
        min_master_version=plan.kubernetes_version,
        release_channel=gcp.container.ClusterReleaseChannelArgs(channel="REGULAR"),
        maintenance_policy=to_maintenance_policy(plan.maintenance),
        deletion_protection=args.deletion_protection,
        resource_labels=to_resource_labels(tags(args)),
        remove_default_node_pool=True,
        initial_node_count=1,
        node_config=_passing_node_config(refs),
        network=refs.network,
        subnetwork=refs.subnetwork,
        networking_mode="VPC_NATIVE",
        ip_allocation_policy=gcp.container.ClusterIpAllocationPolicyArgs(
            cluster_secondary_range_name=PODS_RANGE, services_secondary_range_name=SERVICES_RANGE
        ),
        datapath_provider="ADVANCED_DATAPATH",
        enable_intranode_visibility=True,
        private_cluster_config=to_private_config(plan),
        master_authorized_networks_config=to_authorized_networks(plan),
        control_plane_endpoints_config=to_endpoints(plan),
        workload_identity_config=gcp.container.ClusterWorkloadIdentityConfigArgs(workload_pool=refs.workload_pool),
        authenticator_groups_config=to_groups(plan),
        anonymous_authentication_config=gcp.container.ClusterAnonymousAuthenticationConfigArgs(mode="LIMITED"),
        enable_shielded_nodes=True,
        security_posture_config=gcp.container.ClusterSecurityPostureConfigArgs(mode="BASIC"),
        cluster_autoscaling=_autoscaling(),
        addons_config=_addons(),
        cost_management_config=gcp.container.ClusterCostManagementConfigArgs(enabled=True),
        logging_config=_logging(),
        monitoring_config=_monitoring(),
    )


def to_private_config(plan: ClusterPlan) -> gcp.container.ClusterPrivateClusterConfigArgs:
    """Return private nodes, and the private endpoint alone where nobody outside may reach the API server.

    The private endpoint answers from every region, because those who come over VPN seldom arrive in the cluster's own.
    """
    return gcp.container.ClusterPrivateClusterConfigArgs(
        enable_private_nodes=True,
        enable_private_endpoint=plan.network.is_private,
        master_global_access_config=gcp.container.ClusterPrivateClusterConfigMasterGlobalAccessConfigArgs(enabled=True),
    )


def to_authorized_networks(plan: ClusterPlan) -> gcp.container.ClusterMasterAuthorizedNetworksConfigArgs:
    """Return the ranges that may reach the API server by address."""
    ranges = plan.network.control_plane_cidrs
    return gcp.container.ClusterMasterAuthorizedNetworksConfigArgs(
        cidr_blocks=[
            gcp.container.ClusterMasterAuthorizedNetworksConfigCidrBlockArgs(
                cidr_block=cidr, display_name="everyone" if cidr == _EVERYONE else f"range-{number}"
            )
            for number, cidr in enumerate(ranges or (_EVERYONE,), start=1)
        ],
        gcp_public_cidrs_access_enabled=not ranges,
        private_endpoint_enforcement_enabled=bool(ranges),
    )


def to_endpoints(plan: ClusterPlan) -> gcp.container.ClusterControlPlaneEndpointsConfigArgs:
    """Return the endpoints: by address always, by DNS name for users only where no ranges are to be kept."""
    return gcp.container.ClusterControlPlaneEndpointsConfigArgs(
        dns_endpoint_config=gcp.container.ClusterControlPlaneEndpointsConfigDnsEndpointConfigArgs(
            allow_external_traffic=not plan.network.control_plane_cidrs
        ),
        ip_endpoints_config=gcp.container.ClusterControlPlaneEndpointsConfigIpEndpointsConfigArgs(enabled=True),
    )


def to_groups(plan: ClusterPlan) -> gcp.container.ClusterAuthenticatorGroupsConfigArgs | None:
    """Return the Google group whose member groups RBAC may name; GKE takes one, the plan holds no more."""
    if not plan.admins:
        return None
    return gcp.container.ClusterAuthenticatorGroupsConfigArgs(security_group=plan.admins[0])


def to_maintenance_policy(window: MaintenanceWindow | None) -> gcp.container.ClusterMaintenancePolicyArgs | None:
    """Return the weekly window as an RFC 5545 rule that starts on its first day; None leaves the time to GKE.

    Example: Saturday and Sunday, 22 o'clock, 6 hours: from 2026-01-10T22:00:00Z to 2026-01-11T04:00:00Z,
    ``FREQ=WEEKLY;BYDAY=SA,SU``.

    Raises:
        ValueError: A day is no English name of a weekday.
    """
    if window is None:
        return None
    days = sorted(_WEEKDAYS.index(day) for day in window.days)
    start = _SOME_MONDAY + timedelta(days=days[0], hours=window.start_hour_utc)
    return gcp.container.ClusterMaintenancePolicyArgs(
        recurring_window=gcp.container.ClusterMaintenancePolicyRecurringWindowArgs(
            start_time=_zulu(start),
            end_time=_zulu(start + timedelta(hours=window.hours)),
            recurrence="FREQ=WEEKLY;BYDAY=" + ",".join(_WEEKDAYS[day][:2].upper() for day in days),
        )
    )


def _zulu(moment: datetime) -> str:
    """Return a moment as GKE reads it back: RFC 3339 in UTC with a Z."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def _passing_node_config(refs: ClusterRefs) -> gcp.container.ClusterNodeConfigArgs:
    """Return the nodes of the pool that is removed as soon as the cluster stands."""
    return gcp.container.ClusterNodeConfigArgs(
        service_account=refs.node_account,
        oauth_scopes=list(NODE_SCOPES),
        disk_size_gb=_PASSING_DISK_GB,
        shielded_instance_config=gcp.container.ClusterNodeConfigShieldedInstanceConfigArgs(
            enable_secure_boot=True, enable_integrity_monitoring=True
        ),
    )


def _autoscaling() -> gcp.container.ClusterClusterAutoscalingArgs:
    """Return how the autoscaler works: no pools but the planned ones, and empty nodes go soon."""
    return gcp.container.ClusterClusterAutoscalingArgs(enabled=False, autoscaling_profile="OPTIMIZE_UTILIZATION")


def _addons() -> gcp.container.ClusterAddonsConfigArgs:
    """Return the add-ons: block storage, buckets as volumes for data sets, a DNS cache on each node."""
    return gcp.container.ClusterAddonsConfigArgs(
        gce_persistent_disk_csi_driver_config=gcp.container.ClusterAddonsConfigGcePersistentDiskCsiDriverConfigArgs(enabled=True),
        gcs_fuse_csi_driver_config=gcp.container.ClusterAddonsConfigGcsFuseCsiDriverConfigArgs(enabled=True),
        dns_cache_config=gcp.container.ClusterAddonsConfigDnsCacheConfigArgs(enabled=True),
    )


def _logging() -> gcp.container.ClusterLoggingConfigArgs:
    """Return which components' logs Google keeps."""
    return gcp.container.ClusterLoggingConfigArgs(
        enable_components=["SYSTEM_COMPONENTS", "WORKLOADS", "APISERVER", "SCHEDULER", "CONTROLLER_MANAGER"]
    )


def _monitoring() -> gcp.container.ClusterMonitoringConfigArgs:
    """Return which components' metrics Google keeps."""
    return gcp.container.ClusterMonitoringConfigArgs(
        enable_components=["SYSTEM_COMPONENTS", "APISERVER", "SCHEDULER", "CONTROLLER_MANAGER"],
        managed_prometheus=gcp.container.ClusterMonitoringConfigManagedPrometheusArgs(enabled=False),
    )
