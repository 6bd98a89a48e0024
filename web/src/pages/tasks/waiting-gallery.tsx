import { Skeleton } from "../../design/skeleton.tsx";

export function WaitingGallery() {
  const places = Array.from({ length: 8 }, (_, index) => `place ${index}`);
  return (
    <div aria-busy="true" className="grid grid-cols-2 gap-4 md:grid-cols-3 xl:grid-cols-4">
      <p className="sr-only">Loading</p>
      {places.map((place) => (
        <div key={place} className="overflow-hidden rounded-lg border border-line bg-surface">
          <Skeleton className="aspect-4/3 rounded-none" />
          <div className="flex flex-col gap-3 px-3 py-3">
            <Skeleton className="h-4 w-4/5" />
            <Skeleton className="h-3 w-1/2" />
          </div>
        </div>
      ))}
    </div>
  );
}
