/**
 * Limits on abuse: sign-ups by network and mail domain, block lists, and a daily spend cap for new accounts.
 *
 * Promises: no network and no mail domain opens more accounts in a day than the settings allow, on any number of gateways.
 * A blocked network is refused within a second, without a query. The cap costs calls nothing: a job compares, so spending may exceed
 * it by what a minute allows. Everybody who is refused learns why and what to do.
 */

export { type Block, type BlockKind, blockKinds } from "./block.ts";
export { type BlockList, openBlockList } from "./block-list.ts";
export { listBlocks } from "./block-store.ts";
export { capSpending, liftCap, type SpendCap } from "./cap-spending.ts";
export { addBlock, importDisposable, removeBlock } from "./change-blocks.ts";
export { createAdmission, type SignUpAdmission } from "./check-sign-up.ts";
export { listSignUps, type SignUpRow, sumSignUps } from "./sign-up-store.ts";
