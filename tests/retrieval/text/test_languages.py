"""Analysis by language: inflected forms meet, marks do not matter, and no script is indexed by whole runs."""

from __future__ import annotations

import logging
import math
import unicodedata
from datetime import UTC, datetime
from pathlib import Path

import pytest
from recallmeter.datasets.errors import InputError
from recallmeter.datasets.formats.beir import load_beir
from recallmeter.datasets.model import Observation
from recallmeter.retrieval.arms.bm25 import BM25
from recallmeter.retrieval.corpus import Question
from recallmeter.retrieval.pipeline import Pipeline
from recallmeter.retrieval.text import segmentation
from recallmeter.retrieval.text.agentmemory import AgentmemoryAnalyzer
from recallmeter.retrieval.text.analysis import Analyzer

PLAIN = {"synonyms": None}


def search(analyzer: Analyzer, texts: list[str], query: str) -> list[str]:
    """Return the texts found, best first, by term match without prefixes."""
    system = Pipeline({"bm25": BM25(analyzer, **PLAIN)})
    start = datetime(2026, 1, 1, tzinfo=UTC)
    system.index([Observation(id=f"o{i}", session_id="s", timestamp=start, type="", title=text) for i, text in enumerate(texts)])
    return [texts[int(identifier[1:])] for identifier in system.search(query, 10).ids]


PAIRS = [
    ("el", "Τα αρχεία ρυθμίσεων μεταφέρθηκαν.", "ρύθμιση αρχείου", "Ο κωδικός άλλαξε χθες"),
    ("ru", "Настройки сервера базы данных изменены.", "какая настройка серверов", "Пароль сменили вчера"),
    ("ar", "تم حفظ إعدادات المستخدمين", "إعداد المُسْتَخْدِم", "تغيرت كلمة السر"),
    ("he", "ההגדרות של השרת נשמרו", "הגדרה בשרתים", "הסיסמה שונתה אתמול"),
    ("tr", "Veritabanı sunucularında İSTANBUL bölgesi seçildi", "istanbul sunucusu", "Parola dün değişti"),
    ("de", "Die Schlüssel liegen in den Häusern.", "Schlüsseln im Haus", "Das Passwort wurde geändert"),
    ("fr", "Les déploiements ont échoué hier.", "déploiement échouée", "Le mot de passe a changé"),
    ("es", "Configuraciones de los índices", "configuración del índice", "La contraseña cambió ayer"),
]


@pytest.mark.parametrize(("language", "text", "query", "other"), PAIRS, ids=[pair[0] for pair in PAIRS])
def test_an_inflected_form_finds_its_text_and_not_another(language: str, text: str, query: str, other: str) -> None:
    assert search(Analyzer(language), [other, text], query) == [text]
    for form in ("NFC", "NFD"):
        assert search(Analyzer(language), [unicodedata.normalize(form, text), other], query)
        assert search(Analyzer(language), [text, other], unicodedata.normalize(form, query)) == [text]
    without = Analyzer(language, stem=False)
    assert set(without.terms(text)).isdisjoint(without.terms(query)) or language == "tr"


@pytest.mark.parametrize("language", ["el", "ru", "ar", "he"])
def test_a_script_of_its_own_needs_no_setting(language: str) -> None:
    for _, text, query, other in (pair for pair in PAIRS if pair[0] == language):
        assert search(Analyzer(), [other, text], query) == [text]


def test_accents_may_be_left_out() -> None:
    assert search(Analyzer("fr"), ["Requêtes lentes", "autre"], "requete") == ["Requêtes lentes"]
    assert Analyzer().terms("cafés Größe smørrebrød œuvre") == Analyzer().terms("cafe Grosse smorrebrod oeuvre")
    assert Analyzer("ru").terms("ёлка") == Analyzer("ru").terms("елка")
    assert Analyzer().terms("المُسْتَخْدِم") == Analyzer().terms("المستخدم")
    assert Analyzer("tr").terms("ISPARTA İZMİR") == Analyzer("tr").terms("ısparta izmir")


def test_words_of_other_scripts_in_one_memory() -> None:
    terms = Analyzer("ru").terms("Сервер Next.js использует caching")
    assert terms == [*Analyzer("ru").terms("Сервер"), *Analyzer().terms("Next.js"), *Analyzer("ru").terms("использует"), "cach"]


def test_agentmemory_analysis_is_as_published() -> None:
    text = "Set up Next.js 15's app-router; see src/app_layout.tsx. Caching!"
    assert AgentmemoryAnalyzer().terms(text) == ["set", "up", "next.j", "15", "app-rout", "see", "src/app_layout.tsx.", "cach"]
    assert AgentmemoryAnalyzer(trim=True).terms("see src/app_layout.tsx. -- done") == ["see", "src/app_layout.tsx", "--", "done"]


def test_chinese_is_split_and_full_width_is_plain() -> None:
    pairs = Analyzer(segmentation="bigrams")
    assert pairs.terms("用ＴＳ重写了Node.js后端。") == ["用", "ts", "重写", "写了", "node.js", "node", "js", "后端"]
    assert search(pairs, ["把连接池移到数据库之后", "密码已更改"], "数据库") == ["把连接池移到数据库之后"]
    for text in ("データベース設定", "데이터베이스를 설정", "ฐานข้อมูล"):
        assert max(map(len, pairs.terms(text))) == 2


def test_a_single_character_finds_the_words_that_begin_with_it() -> None:
    system = Pipeline({"bm25": BM25(Analyzer(segmentation="bigrams"), prefix_weight=0.5)})
    system.index([Observation(id="cat", session_id="s", timestamp=datetime(2026, 1, 1, tzinfo=UTC), type="", title="养了一只猫咪")])
    assert system.search("猫", 5).ids == ("cat",)
    assert system.search("咪", 5).ids == ()


def test_a_word_that_is_indexed_does_not_find_longer_ones_that_were_split_to_it() -> None:
    index = BM25(Analyzer(segmentation="bigrams"), prefix_weight=0.5).index([["数据"], ["数据库"], ["连接池"]])
    assert index.search(Question("数据"), 5).rows.tolist() == [0]
    assert index.search(Question("连接"), 5).rows.tolist() == [2]


@pytest.fixture
def without_segmenters(monkeypatch: pytest.MonkeyPatch):
    def missing() -> segmentation.Segmenter:
        raise ImportError

    for cached in (segmentation._segmenter, segmentation._tell):
        cached.cache_clear()
    monkeypatch.setattr(segmentation, "_LOADERS", dict.fromkeys(segmentation._LOADERS, missing))
    yield
    for cached in (segmentation._segmenter, segmentation._tell):
        cached.cache_clear()


@pytest.mark.usefixtures("without_segmenters")
def test_without_a_segmenter_pairs_of_characters_stand_in_and_it_is_said_once(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        assert Analyzer().terms("数据库连接") == ["数据", "据库", "库连", "连接"]
        Analyzer().terms("又一段文字")
    assert [record.getMessage().partition(" ")[0] for record in caplog.records] == ["rjieba"]
    with pytest.raises(InputError, match="recallmeter\\[cjk\\]"):
        Analyzer(segmentation="words").terms("数据库")


@pytest.mark.integration
@pytest.mark.parametrize(
    ("package", "text", "words"),
    [
        ("rjieba", "把连接池移到数据库之后", {"连接池", "数据库"}),
        ("janome", "データベースの設定を変更した", {"データベース", "設定", "変更"}),
        ("kiwipiepy", "데이터베이스를 설정했습니다", {"데이터베이스", "설정"}),
    ],
)
def test_segmenters_find_words(package: str, text: str, words: set[str]) -> None:
    pytest.importorskip(package, reason="the extra cjk is not installed")
    assert words <= set(Analyzer(segmentation="words").terms(text))


def test_every_language_of_snowball_is_stemmed() -> None:
    assert Analyzer("hi").terms("किताबें") == Analyzer("hi").terms("किताबों")
    assert Analyzer("ca").terms("configuracions") == Analyzer("ca").terms("configuració")


@pytest.mark.shared
@pytest.mark.parametrize("mode", ["bigrams", pytest.param("words", marks=pytest.mark.integration)])
def test_chinese_paragraphs_are_found(mode: segmentation.Mode, shared: Path) -> None:
    """NDCG@10 of 1,190 questions with one paragraph each; over white space it would be near 0."""
    if mode == "words":
        pytest.importorskip("rjieba", reason="the extra cjk is not installed")
    dataset = load_beir(str(shared / "data" / "xquad-zh"))
    system = Pipeline({"bm25": BM25(Analyzer(segmentation=mode))})
    system.index(dataset.observations)
    gains = []
    for query in dataset.queries:
        (answer,) = query.relevant
        ids = system.search(query.text, 10).ids
        gains.append(1 / math.log2(ids.index(answer) + 2) if answer in ids else 0.0)
    assert sum(gains) / len(gains) >= 0.96


def test_what_is_not_offered_is_refused() -> None:
    with pytest.raises(InputError, match="language"):
        Analyzer("xx")
    with pytest.raises(InputError, match="segmentation"):
        Analyzer(segmentation="runs")  # type: ignore[arg-type]
    assert Analyzer("xx", stem=False).terms("words stay") == ["words", "stay"]
