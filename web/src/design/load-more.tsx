import { Button } from "./button.tsx";

export function LoadMore({ hasMore, isBusy, onMore }: { hasMore: boolean; isBusy: boolean; onMore(): void }) {
  if (!hasMore) return null;
  return (
    <div className="flex justify-center pt-2">
      <Button isBusy={isBusy} onClick={onMore}>
        Show more
      </Button>
    </div>
  );
}
