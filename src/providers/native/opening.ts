import type { ChatPiece } from "../contract.ts";
import type { Outlet } from "../openai-compatible/outlet.ts";

/**
 * Vendors say that an answer begins before they know that it does. What says no more than that waits for the first piece
 * that does: until then an upstream that fails can be replaced by another.
 */
export class Opening {
  private readonly outlet: Outlet;
  private waiting: ChatPiece[] | null = null;
  private hasBegun = false;

  constructor(outlet: Outlet) {
    this.outlet = outlet;
  }

  /** Something that says nothing of the answer itself. */
  hold(piece: ChatPiece): void {
    if (this.hasBegun) {
      this.outlet.push(piece);
      return;
    }
    this.waiting ??= [];
    this.waiting.push(piece);
  }

  push(piece: ChatPiece): void {
    this.hasBegun = true;
    for (const held of this.waiting ?? []) this.outlet.push(held);
    this.waiting = null;
    this.outlet.push(piece);
  }
}
