/** What is conspicuous in what an app says of itself: signs of the hub's, and what the detectors find besides. Ring 0. */
import { findOrders } from '@cordon/detectors';
import { type AppDescription, type DescriptionFinding, type OtherApp, scanDescription } from '@cordon/hub';

/** In the order of the text; at most 100. */
export function scannedDescription(
  description: AppDescription,
  others: readonly OtherApp[],
): readonly DescriptionFinding[] {
  return scanDescription(description, others, findOrders);
}
