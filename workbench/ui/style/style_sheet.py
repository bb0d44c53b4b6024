"""Build the palette and style sheet of the application from the theme."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QApplication, QWidget

from workbench.base.settings import Settings
from workbench.ui.style import theme
from workbench.ui.style.icons import file as icon_file

ARROW, BOX = 14, 15  # sizes in pixels at 100%: arrows; check boxes and radio buttons
_ROLES = {
    "Window": "window",
    "Base": "surface",
    "AlternateBase": "window",
    "Button": "surface",
    "WindowText": "text",
    "Text": "text",
    "ButtonText": "text",
    "PlaceholderText": "faint",
    "BrightText": "on_accent",
    "Highlight": "accent",
    "HighlightedText": "on_accent",
    "Link": "accent",
    "LinkVisited": "accent",
    "ToolTipBase": "text",
    "ToolTipText": "surface",
    "Light": "surface",
    "Midlight": "sunken",
    "Mid": "line",
    "Dark": "strong_line",
    "Shadow": "strong_line",
    "Accent": "accent",
}


def apply(app: QApplication, settings: Settings, windows: Sequence[QWidget] | None = None) -> None:
    """Apply the settings' theme, text size and font to the application and redraw all widgets.

    The style sheet is set on `windows`, whose dialogs and menus inherit it. With one on the
    application, Qt styles a widget and its descendants each time its parent changes: building the
    pages took up to three times as long. Without `windows` (in tests of single widgets) it is
    set on the application.
    """
    theme.set_up(
        dark=wants_dark(settings), percent=settings.text_size, system_font=settings.font == "system"
    )
    app.setPalette(palette())
    app.setFont(theme.font())
    sheet = style_sheet()
    app.setStyleSheet(sheet if windows is None else "")
    for window in windows or ():
        window.setStyleSheet(sheet)
    theme.changed.emit()


def wants_dark(settings: Settings) -> bool:
    if settings.theme in ("light", "dark"):
        return settings.theme == "dark"
    return QApplication.styleHints().colorScheme() == Qt.ColorScheme.Dark


def palette() -> QPalette:
    it = QPalette()
    for role, name in _ROLES.items():
        it.setColor(getattr(QPalette.ColorRole, role), QColor(theme.colour(name)))
    for disabled in (
        QPalette.ColorRole.WindowText,
        QPalette.ColorRole.Text,
        QPalette.ColorRole.ButtonText,
    ):
        it.setColor(QPalette.ColorGroup.Disabled, disabled, QColor(theme.colour("faint")))
    return it


def style_sheet() -> str:
    return "\n".join((_frame(), _words(), _buttons(), _inputs(), _tables(), _rest()))


def _words() -> str:
    t, rules = theme.colours(), []
    for kind in theme.FONT:
        family = f" font-family: '{theme.family(mono=True)}';" if kind == "mono" else ""
        rules.append(f'QLabel[kind="{kind}"] {{ font-size: {theme.size(kind)}px;{family} }}')
    tones = ("text", "muted", "faint", "accent", "good", "warn", "bad", "on_accent")
    rules += [f'QLabel[tone="{tone}"] {{ color: {t[tone]}; }}' for tone in tones]
    weights = (500, 600, 700)
    rules += [f'QLabel[weight="{weight}"] {{ font-weight: {weight}; }}' for weight in weights]
    return "\n".join(rules)


def _frame() -> str:
    t, r, arrow = theme.colours(), theme.RADIUS, theme.px(ARROW)
    soft = "\n".join(
        f'QFrame[part="callout"][tone="{tone}"] {{ background: {t[tone + "_soft"]};'
        f" border-radius: {r}px; }}"
        for tone in ("accent", "good", "warn", "bad")
    )
    return f"""
    QMainWindow, QDialog {{ background: {t["window"]}; }}
    QToolTip {{ background: {t["text"]}; color: {t["surface"]}; border: 0; padding: 4px 8px; }}
    QMenuBar {{ background: {t["window"]}; padding: 2px 6px; }}
    QMenuBar::item {{ padding: 4px 9px; border-radius: 4px; background: transparent; }}
    QMenuBar::item:selected {{ background: {t["sunken"]}; }}
    QMenu {{ background: {t["surface"]}; border: 1px solid {t["line"]}; padding: 5px; }}
    QMenu::item {{ padding: 5px 28px 5px {arrow + 12}px; border-radius: 4px; color: {t["text"]}; }}
    QMenu::item:selected {{ background: {t["accent_soft"]}; color: {t["text"]}; }}
    QMenu::item:disabled {{ color: {t["faint"]}; }}
    QMenu::separator {{ height: 1px; background: {t["line"]}; margin: 5px 8px; }}
    QMenu::indicator {{ width: {arrow}px; height: {arrow}px; left: 6px; }}
    QMenu::indicator:checked {{ image: url({icon_file("check", "text")}); }}
    QStatusBar {{ background: {t["window"]}; border-top: 1px solid {t["line"]};
        color: {t["muted"]}; }}
    QStatusBar::item {{ border: 0; }}
    QDockWidget {{ color: {t["text"]}; font-weight: 600; }}
    QDockWidget::title {{ background: {t["window"]}; border-top: 1px solid {t["line"]};
        padding: 6px 12px; }}
    QFrame[part="rail"] {{ background: {t["window"]}; border-right: 1px solid {t["line"]}; }}
    QFrame[part="rail"] QToolButton {{ border: 2px solid transparent; border-radius: {r}px;
        color: {t["muted"]};
        padding: 5px 0 3px 0; font-size: {theme.size("caption")}px; margin: 0 6px; }}
    QFrame[part="rail"] QToolButton[beside="true"] {{ padding: 0 4px; margin: 0 4px; }}
    QFrame[part="rail"] QToolButton:hover {{ background: {t["sunken"]}; color: {t["text"]}; }}
    QFrame[part="rail"] QToolButton:checked {{ background: {t["accent_soft"]};
        color: {t["accent"]}; font-weight: 600; }}
    QFrame[part="rail"] QToolButton:focus {{ border-color: {t["accent"]}; }}
    QFrame[part="header"] {{ background: {t["surface"]}; border-bottom: 1px solid {t["line"]}; }}
    QFrame[part="side"] {{ background: {t["surface"]}; border-right: 1px solid {t["line"]}; }}
    QFrame[part="side-right"] {{ background: {t["surface"]}; border-left: 1px solid {t["line"]}; }}
    QFrame[part="bar"] {{ background: {t["surface"]}; border-top: 1px solid {t["line"]}; }}
    QFrame[part="surface"] {{ background: {t["surface"]}; }}
    QFrame[part="card"] {{ background: {t["surface"]}; border: 1px solid {t["line"]};
        border-radius: {r}px; }}
    QFrame[part="card"][selected="true"] {{ background: {t["accent_soft"]};
        border-color: {t["accent"]}; }}
    QFrame[part="card"][current="true"] {{ border: 2px solid {t["accent"]}; }}
    QFrame[part="strip"] {{ background: {t["sunken"]}; border-radius: {r}px; }}
    QFrame[part="line"] {{ background: {t["line"]}; }}
    QFrame[part="note"] {{ background: {t["text"]}; border-radius: {r}px; }}
    QFrame[part="note"] QLabel {{ color: {t["surface"]}; }}
    QFrame[part="note"] QPushButton {{ background: transparent; border: 2px solid transparent;
        color: {t["surface"]};
        font-weight: 600; text-decoration: underline; padding: 0 8px; }}
    QFrame[part="note"] QPushButton:hover {{ border-color: {t["surface"]}; background: transparent;
        color: {t["surface"]}; }}
    QFrame[part="note"] QPushButton:focus {{ border-color: {t["surface"]}; }}
    {soft}
    """


def _buttons() -> str:
    t, tall, small = theme.colours(), theme.px(theme.CONTROL), theme.px(theme.CONTROL_SMALL)
    arrow, box = theme.px(ARROW), theme.px(BOX)
    return f"""
    QPushButton, QToolButton, QCheckBox, QRadioButton, QTabBar, QComboBox {{ outline: 0; }}
    QPushButton {{ background: {t["surface"]}; border: 1px solid {t["strong_line"]};
        border-radius: 6px; padding: 0 12px;
        min-height: {tall - 2}px; color: {t["text"]}; }}
    QPushButton:hover {{ background: {t["sunken"]}; }}
    QPushButton:pressed {{ background: {t["line"]}; }}
    QPushButton:focus {{ border: 2px solid {t["accent"]}; padding: 0 11px;
        min-height: {tall - 4}px; }}
    QPushButton:disabled {{ color: {t["faint"]}; border-color: {t["line"]}; }}
    QPushButton[kind="primary"] {{ background: {t["accent"]}; border-color: {t["accent"]};
        color: {t["on_accent"]}; font-weight: 600; }}
    QPushButton[kind="primary"]:hover {{ background: {t["accent_hover"]}; }}
    QPushButton[kind="primary"]:focus {{ border: 2px solid {t["text"]}; }}
    QPushButton[kind="primary"]:disabled {{ background: {t["line"]}; border-color: {t["line"]};
        color: {t["muted"]}; }}
    QPushButton[kind="quiet"] {{ background: transparent; border-color: transparent;
        color: {t["muted"]}; padding: 0 8px; }}
    QPushButton[kind="quiet"]:hover {{ background: {t["sunken"]}; color: {t["text"]}; }}
    QPushButton[kind="quiet"]:checked {{ background: {t["accent_soft"]}; color: {t["accent"]}; }}
    QPushButton[kind="quiet"]:focus {{ border: 2px solid {t["accent"]}; padding: 0 7px; }}
    QPushButton[kind="quiet"]:disabled {{ color: {t["faint"]}; }}
    QPushButton[kind="danger"] {{ color: {t["bad"]}; border-color: {t["bad"]}; }}
    QPushButton[kind="danger"]:hover {{ background: {t["bad_soft"]}; }}
    QPushButton[kind="danger"]:focus {{ border: 2px solid {t["accent"]}; }}
    QPushButton[kind="danger"]:disabled {{ color: {t["faint"]}; border-color: {t["line"]}; }}
    QPushButton[kind="card"] {{ background: {t["surface"]}; border: 1px solid {t["line"]};
        border-radius: {theme.RADIUS}px; min-height: 0; padding: 0; }}
    QPushButton[kind="card"]:hover {{ border-color: {t["strong_line"]}; }}
    QPushButton[kind="card"]:focus {{ border: 2px solid {t["accent"]}; }}
    QPushButton[small="true"] {{ min-height: {small - 2}px; padding: 0 9px;
        font-size: {theme.size("small")}px; }}
    QPushButton[small="true"]:focus {{ min-height: {small - 4}px; padding: 0 8px; }}
    QPushButton::menu-indicator {{ image: url({icon_file("chevron-down", "muted")});
        width: {arrow}px; height: {arrow}px;
        subcontrol-origin: padding; subcontrol-position: right center; right: 6px; }}
    QPushButton[menu="true"] {{ padding-right: {arrow + 3}px; }}
    QFrame[part="segments"] {{ background: {t["sunken"]}; border-radius: 7px; }}
    QFrame[part="segments"] QPushButton {{ background: transparent; border: 2px solid transparent;
        border-radius: {theme.RADIUS_SMALL}px;
        min-height: {theme.px(24)}px; padding: 0 10px; color: {t["muted"]}; margin: 2px; }}
    QFrame[part="segments"] QPushButton:hover {{ color: {t["text"]}; }}
    QFrame[part="segments"] QPushButton:disabled {{ color: {t["faint"]}; }}
    QFrame[part="segments"] QPushButton:checked {{ background: {t["surface"]}; color: {t["text"]};
        font-weight: 600;
        border: 1px solid {t["strong_line"]}; padding: 0 11px; min-height: {theme.px(26)}px; }}
    QFrame[part="segments"] QPushButton:focus {{ border: 2px solid {t["accent"]}; padding: 0 10px;
        min-height: {theme.px(24)}px; }}
    QCheckBox, QRadioButton {{ spacing: 8px; border: 2px solid transparent;
        border-radius: {theme.RADIUS_SMALL}px; padding: 2px; }}
    QCheckBox:focus, QRadioButton:focus {{ border-color: {t["accent"]}; }}
    QCheckBox::indicator, QRadioButton::indicator, QTableView::indicator,
        QListView::indicator {{ width: {box}px; height: {box}px;
        background: {t["surface"]}; border: 1px solid {t["strong_line"]}; }}
    QCheckBox::indicator, QTableView::indicator, QListView::indicator {{ border-radius: 4px; }}
    QRadioButton::indicator {{ border-radius: {box // 2 + 1}px; }}
    QCheckBox::indicator:checked, QTableView::indicator:checked, QListView::indicator:checked {{
        background: {t["accent"]};
        border-color: {t["accent"]}; image: url({icon_file("check", "on_accent")}); }}
    QRadioButton::indicator:checked {{ background: {t["accent"]}; border: 4px solid {t["surface"]};
        width: {box - 6}px; height: {box - 6}px; }}
    QCheckBox::indicator:disabled, QRadioButton::indicator:disabled {{ border-color: {t["line"]}; }}
    """


def _inputs() -> str:
    t, tall, arrow = theme.colours(), theme.px(theme.CONTROL), theme.px(ARROW)
    boxes = "QLineEdit, QComboBox, QSpinBox, QDoubleSpinBox"
    focused = ", ".join(f"{part}:focus" for part in boxes.split(", "))
    disabled = ", ".join(f"{part}:disabled" for part in boxes.split(", "))
    wrong = ", ".join(f'{text}[wrong="true"]' for text in (*boxes.split(", "), "QPlainTextEdit"))
    down, up = icon_file("chevron-down", "muted"), icon_file("chevron-up", "muted")
    return f"""
    {boxes} {{ background: {t["surface"]}; border: 1px solid {t["strong_line"]};
        border-radius: 6px; padding: 0 9px;
        min-height: {tall - 2}px; color: {t["text"]}; selection-background-color: {t["accent"]};
        selection-color: {t["on_accent"]}; }}
    {focused} {{ border: 2px solid {t["accent"]}; padding: 0 8px; min-height: {tall - 4}px; }}
    {disabled} {{ color: {t["faint"]}; border-color: {t["line"]}; background: {t["window"]}; }}
    QPlainTextEdit, QTextEdit {{ background: {t["surface"]}; border: 1px solid {t["strong_line"]};
        border-radius: 6px; padding: 6px;
        color: {t["text"]}; selection-background-color: {t["accent"]};
        selection-color: {t["on_accent"]}; }}
    QPlainTextEdit:focus, QTextEdit:focus {{ border: 2px solid {t["accent"]}; padding: 5px; }}
    {wrong} {{ border-color: {t["bad"]}; }}
    QPlainTextEdit[kind="mono"], QTextEdit[kind="mono"], QLineEdit[kind="mono"] {{
        font-family: '{theme.family(mono=True)}';
        font-size: {theme.size("mono")}px; }}
    QPlainTextEdit[plain="true"], QTextEdit[plain="true"] {{ border: 1px solid transparent;
        background: transparent; }}
    QPlainTextEdit[outdated="true"], QTableView[outdated="true"] {{ color: {t["faint"]}; }}
    QPlainTextEdit[plain="true"]:focus, QTextEdit[plain="true"]:focus {{
        border: 2px solid {t["accent"]}; padding: 5px; }}
    QAbstractSpinBox QLineEdit, QComboBox QLineEdit, QAbstractSpinBox QLineEdit:focus,
        QComboBox QLineEdit:focus {{ border: 0;
        min-height: 0; padding: 0; background: transparent; }}
    QSpinBox, QDoubleSpinBox, QSpinBox:focus, QDoubleSpinBox:focus {{ padding: 0; }}
    QSpinBox, QDoubleSpinBox {{ max-height: {tall - 2}px; }} QSpinBox:focus,
        QDoubleSpinBox:focus {{ max-height: {tall - 4}px; }}
    QComboBox {{ padding-right: 4px; }} QComboBox:focus {{ padding-right: 3px; }}
    QComboBox::drop-down, QSpinBox::up-button, QSpinBox::down-button, QDoubleSpinBox::up-button,
        QDoubleSpinBox::down-button {{
        border: 0; width: {arrow + 8}px; background: transparent; }}
    QComboBox::down-arrow, QSpinBox::down-arrow, QDoubleSpinBox::down-arrow {{ image: url({down});
        width: {arrow}px; height: {arrow}px; }}
    QSpinBox::up-arrow, QDoubleSpinBox::up-arrow {{ image: url({up}); width: {arrow}px;
        height: {arrow}px; }}
    QComboBox QAbstractItemView {{ background: {t["surface"]}; border: 1px solid {t["line"]};
        padding: 4px;
        selection-background-color: {t["accent_soft"]}; selection-color: {t["text"]}; }}
    QComboBox QAbstractItemView::item {{ min-height: {theme.px(26)}px; padding: 0 6px; }}
    QComboBox[small="true"] {{ min-height: {theme.px(theme.CONTROL_SMALL) - 2}px;
        font-size: {theme.size("small")}px; }}
    """


def _tables() -> str:
    t, pad, arrow = theme.colours(), theme.px(30), theme.px(ARROW - 2)
    return f"""
    QTableView, QListView, QTreeView {{ background: {t["surface"]}; border: 1px solid transparent;
        gridline-color: {t["line"]};
        outline: 0; color: {t["text"]}; selection-background-color: {t["accent_soft"]};
        selection-color: {t["text"]}; }}
    QTableView:focus, QListView:focus, QTreeView:focus {{ border-color: {t["accent"]}; }}
    QTableView::item {{ padding: 0 10px; border-bottom: 1px solid {t["line"]}; }}
    QTableView::item:selected, QListView::item:selected {{ background: {t["accent_soft"]};
        color: {t["text"]}; }}
    QListView[part="views"]::item {{ padding: 0 8px; border-radius: {theme.RADIUS_SMALL}px; }}
    QListView[part="views"]::item:selected {{ color: {t["accent"]}; }}
    QTableView::item:focus {{ border-bottom: 1px solid {t["line"]}; }}
    QTableView QLineEdit {{ min-height: {theme.px(24)}px; border-radius: 4px; padding: 0 6px; }}
    QHeaderView {{ background: {t["surface"]}; }}
    QHeaderView::section {{ background: {t["surface"]}; color: {t["muted"]}; border: 0;
        border-bottom: 1px solid {t["line"]};
        padding: 0 11px; height: {pad}px; font-size: {theme.size("small")}px; font-weight: 500; }}
    QTableView[part="matrix"] QHeaderView::section {{ padding: 0 0 3px 0; border: 0;
        font-size: {theme.size("caption")}px; font-weight: 400; }}
    QTableView[part="matrix"] QHeaderView::section:vertical {{ padding: 0 8px 0 0; }}
    QTableView[part="matrix"]::item {{ border: 0; padding: 0; }}
    QTableCornerButton::section {{ background: {t["surface"]}; border: 0; }}
    QHeaderView::down-arrow {{ image: url({icon_file("chevron-down", "muted")}); width: {arrow}px;
        height: {arrow}px; }}
    QHeaderView::up-arrow {{ image: url({icon_file("chevron-up", "muted")}); width: {arrow}px;
        height: {arrow}px; }}
    """


def _rest() -> str:
    t = theme.colours()
    return f"""
    QProgressBar {{ background: {t["sunken"]}; border: 0; border-radius: 3px; min-height: 6px;
        max-height: 6px; }}
    QProgressBar::chunk {{ background: {t["accent"]}; border-radius: 3px; }}
    QScrollArea {{ border: 0; background: transparent; }}
    QScrollArea > QWidget > QWidget[part="scrolled"] {{ background: transparent; }}
    QScrollBar:vertical {{ background: transparent; width: 12px; margin: 2px; }}
    QScrollBar:horizontal {{ background: transparent; height: 12px; margin: 2px; }}
    QScrollBar::handle:vertical {{ background: {t["strong_line"]}; border-radius: 4px;
        min-height: 32px; }}
    QScrollBar::handle:horizontal {{ background: {t["strong_line"]}; border-radius: 4px;
        min-width: 32px; }}
    QScrollBar::add-line, QScrollBar::sub-line, QScrollBar::add-page, QScrollBar::sub-page {{
        background: transparent;
        height: 0; width: 0; border: 0; }}
    QAbstractScrollArea::corner {{ background: transparent; border: 0; }}
    QSplitter::handle {{ background: {t["line"]}; }}
    QSplitter::handle:horizontal {{ width: 1px; }} QSplitter::handle:vertical {{ height: 1px; }}
    QTabBar {{ border: 0; }}
    QTabBar::tab {{ background: transparent; border: 2px solid transparent; padding: 6px 4px;
        margin-right: 16px; color: {t["muted"]}; }}
    QTabBar::tab:selected {{ color: {t["text"]}; border-bottom-color: {t["accent"]};
        font-weight: 600; }}
    QTabBar::tab:hover:!selected {{ color: {t["text"]}; }}
    QTabBar::tab:selected:focus {{ border: 2px solid {t["accent"]};
        border-radius: {theme.RADIUS_SMALL}px; }}
    """
