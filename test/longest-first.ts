// The order in which the files of a lane are run: the longest first, so that none of them is left alone at the end.
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** `names` are parts of paths below test/, the longest first; the other files follow in vitest's own order. */
export function longestFirst(names: readonly string[]): typeof BaseSequencer {
  const rankOf = ({ moduleId }: TestSpecification) => {
    const at = names.findIndex((name) => moduleId.includes(`/test/${name}`));
    return at === -1 ? names.length : at;
  };
  return class LongestFirst extends BaseSequencer {
    override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
      const sorted = await super.sort(files);
      return sorted.sort((a, b) => rankOf(a) - rankOf(b));
    }
  };
}
