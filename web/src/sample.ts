// The sample handbook, fetched only when it is asked for.
const files = import.meta.glob<string>("../../samples/handbook/*", { query: "?raw", import: "default", eager: true });

export const documents = Object.entries(files).map(([path, text]) => ({
  source: path.slice(path.lastIndexOf("/") + 1),
  text,
  metadata: { sample: true },
}));
