"""What AKS may change by itself in a cluster, and when.

Three schedules of AKS, by their fixed names (AKS, planned-maintenance.md, 2026-08): `default` for AKS' own weekly releases (API
server, CoreDNS and other add-ons), `aksManagedAutoUpgradeSchedule` for Kubernetes versions, `aksManagedNodeOSUpgradeSchedule` for
node images. Each takes one day of the week, so the plan's days are dealt out in that order: with three days no two kinds of
change fall together, with seven node images may come on any. A fourth to sixth day has no schedule left to go to.
"""

from __future__ import annotations

from collections.abc import Mapping

import pulumi
from pulumi_azure_native import containerservice

from fleet.records import ClusterPlan, MaintenanceWindow

RELEASES = "default"
VERSION_UPGRADES = "aksManagedAutoUpgradeSchedule"
NODE_IMAGES = "aksManagedNodeOSUpgradeSchedule"
DAYS_IN_WEEK = 7
LONGEST_WINDOW_HOURS = 24


def to_upgrade_profile(plan: ClusterPlan) -> containerservice.ManagedClusterAutoUpgradeProfileArgs:
    """Return what is upgraded without being asked for: patch versions, unless the plan names one, and weekly node images.

    A plan that says ``1.N.P`` gets that; AKS going past it would make every later update an attempt to go back.
    """
    names_a_patch = plan.kubernetes_version.count(".") > 1
    channel = containerservice.UpgradeChannel.NONE if names_a_patch else containerservice.UpgradeChannel.PATCH
    return containerservice.ManagedClusterAutoUpgradeProfileArgs(
        upgrade_channel=channel, node_os_upgrade_channel=containerservice.NodeOSUpgradeChannel.NODE_IMAGE
    )


def to_maintenance_args(
    plan: ClusterPlan, group: pulumi.Input[str], cluster: pulumi.Input[str]
) -> Mapping[str, containerservice.MaintenanceConfigurationArgs]:
    """Return the schedules of a cluster by name; none when the plan leaves the time to Azure."""
    if plan.maintenance is None:
        return {}
    window = plan.maintenance
    return {
        name: containerservice.MaintenanceConfigurationArgs(
            resource_group_name=group,
            resource_name=cluster,
            config_name=name,
            maintenance_window=_window(window, schedule),
        )
        for name, schedule in _schedules(window).items()
    }


def _schedules(window: MaintenanceWindow) -> Mapping[str, containerservice.ScheduleArgs]:
    """Return when each kind of change may come, by the schedule's name."""
    names = (RELEASES, VERSION_UPGRADES, NODE_IMAGES)
    schedules = {name: _weekly(window.days[turn % len(window.days)]) for turn, name in enumerate(names)}
    if len(window.days) == DAYS_IN_WEEK:
        schedules[NODE_IMAGES] = containerservice.ScheduleArgs(daily=containerservice.DailyScheduleArgs(interval_days=1))
    return schedules


def _weekly(day: str) -> containerservice.ScheduleArgs:
    """Return a schedule of one day every week; raises ValueError for what is no day in English."""
    return containerservice.ScheduleArgs(
        weekly=containerservice.WeeklyScheduleArgs(day_of_week=containerservice.WeekDay(day), interval_weeks=1)
    )


def _window(window: MaintenanceWindow, schedule: containerservice.ScheduleArgs) -> containerservice.MaintenanceWindowArgs:
    """Return the hours in which `schedule` may start something, in UTC."""
    return containerservice.MaintenanceWindowArgs(
        schedule=schedule,
        start_time=f"{window.start_hour_utc:02}:00",
        utc_offset="+00:00",
        duration_hours=min(window.hours, LONGEST_WINDOW_HOURS),
    )
