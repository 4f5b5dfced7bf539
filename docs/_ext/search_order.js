// Where a search looks first: pages of the user guide whose title has the words, then API
// pages, then all others.
var Scorer = {
  score: ([page, title, anchor, description, score, file, kind]) => {
    if (page.startsWith("user_guide/") || page === "install" || page === "tour") {
      return score + (kind === "title" && !anchor ? 15 : 1);
    }
    if (/^(contributing|experiments|changelog|references)/.test(page)) return score - 5;
    return score;
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
