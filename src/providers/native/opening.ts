import type { ChatPiece } from "../contract.ts";
import type { Outlet } from "../openai-compatible/outlet.ts";

/**
 * Vendors send opening events before the model has produced anything. These wait for the first real piece: until then
 * another upstream can replace one that fails.
 */
export class Opening {
  private readonly outlet: Outlet;
  private waiting: ChatPiece[] | null = null;
  private hasBegun = false;

  constructor(outlet: Outlet) {
    this.outlet = outlet;
  }

  /** An event without content. */
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
