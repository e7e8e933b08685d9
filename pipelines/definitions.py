"""Wires the rooms' assets and checks, the jobs and the schedules into one Dagster code location."""

from warehouse.cycles import without_cycles

with without_cycles():
    import dagster as dg

    from contracts.discovery.capabilities import is_live
    from contracts.discovery.installation import installation_of
    from contracts.settings import Settings, load_settings
    from pipelines import checks, derived
    from pipelines.access import assets as access
    from pipelines.bidwall import assets as bidwall
    from pipelines.connect import assets as connect
    from pipelines.discovery import assets as discovery
    from pipelines.feed import assets as feed
    from pipelines.guardrail import assets as guardrail
    from pipelines.intake import assets as intake
    from pipelines.market import assets as market
    from pipelines.partner import assets as partner
    from pipelines.presentation import CAPABILITY
    from pipelines.publish import assets as publish
    from pipelines.resources import runtime_resource
    from pipelines.schedules import JOBS, dagster_job, dagster_schedule
    from pipelines.token import (
        event_assets,
        further_token_assets,
        history_assets,
        holder_assets,
        transfer_assets,
    )
    from pipelines.trust import assets as trust
    from pipelines.world import assets as world
    from pipelines.world import positions
    from warehouse.file_modes import keep_files_private

ROOMS = [
    *(transfer_assets, event_assets, holder_assets, history_assets, market, bidwall, trust, partner, feed),
    *(guardrail, world, positions, access, intake, connect, discovery, derived, checks, publish),
]
"""The modules whose assets and checks Dagster loads."""

FURTHER_TOKENS = [further_token_assets]
"""The module that is also loaded if a tokens file is configured."""


def build_definitions(settings: Settings) -> dg.Definitions:
    """Returns all definitions that Dagster shows and runs, for one installation."""
    further = FURTHER_TOKENS if settings.tokens_file is not None and settings.partition_blocks else []
    installation = installation_of(settings)
    documents = publish.documents_of_what_is_off(installation)

    def at_this_installation(spec: dg.AssetSpec) -> dg.AssetSpec:
        capability = spec.metadata.get(CAPABILITY)
        is_off = spec.key in documents or (capability is not None and not is_live(installation, capability))
        return spec.replace_attributes(freshness_policy=None) if is_off else spec

    return dg.Definitions(
        assets=[
            asset.map_asset_specs(at_this_installation) if isinstance(asset, dg.AssetsDefinition) else asset
            for asset in dg.load_assets_from_modules([*ROOMS, *further], include_specs=True)
        ],
        asset_checks=[*checks.table_checks(), *dg.load_asset_checks_from_modules(ROOMS)],
        jobs=[dagster_job(job) for job in JOBS],
        schedules=[dagster_schedule(job, settings) for job in JOBS],
        resources={
            "runtime": runtime_resource(settings),
            "settings": dg.ResourceDefinition.hardcoded_resource(settings),
        },
        loggers={"console": dg.json_console_logger if settings.log_format == "json" else dg.colored_console_logger},
        executor=dg.in_process_executor,
    )


@dg.definitions
def definitions() -> dg.Definitions:
    """Returns the definitions for the environment's settings. `workspace.yaml` names this function."""
    keep_files_private()
    return build_definitions(load_settings())
