/** What is suspicious in the description of an app: the signs of the scan, and what the detectors find besides. */
import type { DescriptionFinding } from '@cordon/console/review';
import { findOrders } from '@cordon/detectors';
import type { AppDescription } from '@cordon/hub';
import type { OtherApp } from '@cordon/runtime/compose';
import { scanDescription } from './description-scan.ts';

/** In the order of the text; at most 100, and beyond them the first of each tool. `apps`: those of the configuration, `app` among them. */
export function scannedDescription(
  description: AppDescription,
  app: OtherApp['id'],
  apps: readonly OtherApp[],
): readonly DescriptionFinding[] {
  return scanDescription(
    description,
    apps.filter(({ id }) => id !== app),
    findOrders,
  );
}
